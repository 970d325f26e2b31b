import { z } from 'zod';
import { paystackRefusals, type PaystackVariables } from './paystack-settings.js';

/** The capabilities that a provider serves, each by one provider for its new records. */
export const PROVIDER_CAPABILITIES = [
  'transfers',
  'payments',
  'cards',
  'virtual_accounts',
  'identity',
  'billpay',
] as const;

/** A capability that a provider serves. */
export type ProviderCapability = (typeof PROVIDER_CAPABILITIES)[number];

/** The name of the setting that names a capability's provider. */
export const providerSetting = (capability: ProviderCapability) =>
  `BURSAR_PROVIDER_${capability.toUpperCase()}` as Uppercase<`bursar_provider_${ProviderCapability}`>;

const NONE = 'none';
const SANDBOX_BANK = 'sandbox-bank';
const PAYSTACK = 'paystack';
/** The capabilities for which a key of Paystack is enough. */
const BY_KEY: ReadonlySet<ProviderCapability> = new Set(['transfers', 'payments']);
/** Those for which it makes customers at Paystack, so that it needs an e-mail domain too. */
const BY_DOMAIN: ReadonlySet<ProviderCapability> = new Set(['virtual_accounts', 'identity']);
const of = (capability: string, ...names: string[]) =>
  z
    .enum([SANDBOX_BANK, ...names, NONE])
    .optional()
    .describe(
      `provider of new ${capability}; \`none\` turns them off. Without it ` +
        (names.includes(PAYSTACK)
          ? 'Paystack if it has the settings for them, else the sandbox bank'
          : 'the sandbox bank'),
    )
    .meta({
      live: 'without it `none` in place of the sandbox bank, which needs `BURSAR_LIVE_REHEARSAL`',
    });

/** The settings that name the provider of each capability's new records; `none` turns the capability off. */
export const providerFields = {
  BURSAR_PROVIDER_TRANSFERS: of('transfers', PAYSTACK),
  BURSAR_PROVIDER_PAYMENTS: of('charges and refunds', PAYSTACK),
  BURSAR_PROVIDER_CARDS: of('cards'),
  BURSAR_PROVIDER_VIRTUAL_ACCOUNTS: of('virtual accounts', PAYSTACK),
  BURSAR_PROVIDER_IDENTITY: of('identity checks', PAYSTACK),
  BURSAR_PROVIDER_BILLPAY: of('bill payments'),
};

type Settings = z.output<z.ZodObject<typeof providerFields>> &
  PaystackVariables & { SANDBOX_BANK_SECRET?: string[] | undefined };

/** True if the sandbox bank may serve this deployment: in the sandbox, and in a rehearsal of live. */
export const allowsSandboxBank = (e: Pick<Settings, 'BURSAR_ENV' | 'BURSAR_LIVE_REHEARSAL'>) =>
  e.BURSAR_ENV === 'sandbox' || e.BURSAR_LIVE_REHEARSAL;

/**
 * The provider of each capability's new records, or null. Without a setting it is Paystack for what Paystack serves, if
 * there are the settings for it, and else the sandbox bank where that is allowed.
 */
export function providersOf(e: Settings): Record<ProviderCapability, string | null> {
  const fallback = allowsSandboxBank(e) ? SANDBOX_BANK : NONE;
  const named = PROVIDER_CAPABILITIES.map((capability) => {
    const name =
      e[providerSetting(capability)] ?? (isByPaystack(e, capability) ? PAYSTACK : fallback);
    return [capability, name === NONE ? null : name] as const;
  });
  return Object.fromEntries(named) as Record<ProviderCapability, string | null>;
}

const isByPaystack = (e: Settings, capability: ProviderCapability): boolean =>
  e.PAYSTACK_SECRET_KEY !== undefined &&
  (BY_KEY.has(capability) ||
    (BY_DOMAIN.has(capability) && e.PAYSTACK_CUSTOMER_DOMAIN !== undefined));

/** Adds an issue for each capability whose provider the environment does not allow, and for a secret that is missing. */
export function checkProviders(e: Settings, ctx: z.RefinementCtx): void {
  const bySandboxBank = PROVIDER_CAPABILITIES.filter(
    (each) => providersOf(e)[each] === SANDBOX_BANK,
  );
  const issue = (path: string, message: string) =>
    ctx.addIssue({ code: 'custom', path: [path], message });
  for (const { path, message } of paystackRefusals(e)) issue(path, message);
  for (const capability of PROVIDER_CAPABILITIES) {
    if (providersOf(e)[capability] !== PAYSTACK) continue;
    const because = `must be set, because Paystack serves ${capability}`;
    if (!e.PAYSTACK_SECRET_KEY) issue('PAYSTACK_SECRET_KEY', because);
    if (BY_DOMAIN.has(capability) && !e.PAYSTACK_CUSTOMER_DOMAIN) {
      issue('PAYSTACK_CUSTOMER_DOMAIN', because);
    }
  }
  if (!allowsSandboxBank(e)) {
    for (const capability of bySandboxBank) {
      issue(
        providerSetting(capability),
        'the sandbox bank moves no money: to rehearse live with it, set BURSAR_LIVE_REHEARSAL=true',
      );
    }
  }
  if (bySandboxBank.length > 0 && e.SANDBOX_BANK_SECRET === undefined) {
    issue(
      'SANDBOX_BANK_SECRET',
      `must be set, because the sandbox bank serves ${bySandboxBank.join(', ')}`,
    );
  }
}
