import type { WithoutDeadline } from '../../platform/http/context.js';
import type {
  ChargePageRequest,
  PaymentProvider,
  VerifyChargeAnswer,
} from '../../core/providers/payment-provider.js';
import type { ResendSafety } from '../../core/providers/port.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import type { Tokens } from '../payment-tokens/index.js';
import type { PaymentToken } from '../payment-tokens/payment-token.js';
import { createAnswerRecorder } from './provider-answers.js';
import { aboutAttempt, attemptReference, isOfPage, type Charge } from './charge.js';
import type { Charges } from './store.js';

type Deps = {
  charges: Pick<Charges, 'applyFact' | 'requireAction' | 'noteDecline'>;
  tokens: Pick<Tokens, 'get'>;
  providers: { payment(name: string): PaymentProvider };
  expiresAfterMs: number;
  clock?: () => Date;
};

/** The calls to the providers of charges. */
export type ChargeCalls = ReturnType<typeof createChargeCalls>;

/**
 * Creates the provider calls of charges. A final answer is committed here, because the saved method that comes with a
 * payment must not enter a workflow's history: workflows get the result alone.
 */
export function createChargeCalls({
  charges,
  tokens,
  providers,
  expiresAfterMs,
  clock = () => new Date(),
}: Deps) {
  const recordAnswer = createAnswerRecorder({ charges, providers, expiresAfterMs, clock });

  const tokenOf = async ({ tenant_id: tenantId, payment_token_id: id }: Charge) =>
    id === null ? null : tokens.get(tenantId, id);

  /** A page for the customer. */
  async function open(
    charge: Charge,
    requestedAt: Date,
    signal: AbortSignal,
  ): Promise<ProviderOutcome> {
    const token = await tokenOf(charge);
    const request = { ...requestOf(charge, token, requestedAt), channel: channelOf(token) };
    const answer = await providers.payment(charge.provider).openPage(request, signal);
    return recordAnswer(charge, answer, 'provider_answer');
  }

  /** Charges the customer's saved method. */
  async function chargeToken(charge: Charge, requestedAt: Date, signal: AbortSignal) {
    const token = await tokenOf(charge);
    if (token?.status !== 'active' || token.authorization === null) {
      const revoked = { kind: 'declined', code: 'token_revoked', decline: 'hard' } as const;
      return recordAnswer(charge, { ...revoked, providerRequestId: null }, 'provider_answer');
    }
    const request = {
      ...requestOf(charge, token, requestedAt),
      method: token.authorization,
      handle: charge.handle,
    };
    const answer = await providers.payment(charge.provider).confirmCharge(request, signal);
    return recordAnswer(charge, answer, 'provider_answer');
  }

  return {
    resendSafetyOf: (charge: Charge): ResendSafety =>
      // A page moves no money by itself.
      isOfPage(charge)
        ? { kind: 'idempotent', forMs: null }
        : providers.payment(charge.provider).payments.charges,

    submit: (charge: Charge, requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome> =>
      (isOfPage(charge) ? open : chargeToken)(charge, requestedAt, signal),

    /**
     * Asks about the charge. `withoutDeadline` excludes the provider's time from the deadline of the request.
     * `opensPages`: a page whose address was lost is given up, and another one is opened.
     */
    async verify(
      charge: Charge,
      signal: AbortSignal,
      {
        withoutDeadline = (wait) => wait,
        opensPages = false,
      }: { withoutDeadline?: WithoutDeadline | undefined; opensPages?: boolean } = {},
    ): Promise<ProviderOutcome> {
      const provider = providers.payment(charge.provider);
      const verify = (of: Charge) =>
        withoutDeadline(provider.verifyCharge(aboutAttempt(of), signal));
      const earlier = await findEarlierPage(charge, verify);
      if (earlier) return recordAnswer(earlier.page, earlier.answer, 'poll');
      return recordAnswer(charge, await verify(charge), 'poll', { opensPages });
    },
  };
}

/** An earlier page of a charge that was paid, or that the provider says nothing about; null if there is none. */
async function findEarlierPage(
  charge: Charge,
  verify: (page: Charge) => Promise<VerifyChargeAnswer>,
): Promise<{ page: Charge; answer: VerifyChargeAnswer } | null> {
  if (!isOfPage(charge)) return null;
  for (let attempt = 1; attempt < charge.attempt; attempt += 1) {
    const page = { ...charge, attempt, handle: null };
    const answer = await verify(page);
    if (answer.kind === 'succeeded' || answer.kind === 'unknown') return { page, answer };
  }
  return null;
}

/** The means of payment that the page offers. */
export const channelOf = (token: PaymentToken | null): ChargePageRequest['channel'] =>
  token?.type === 'bank_account' && token.account_number && token.bank_code
    ? { type: 'bank_account', account: token.account_number, bankCode: token.bank_code }
    : { type: 'card' };

/** A saved method belongs to the customer that it was saved for, so the token's customer and e-mail are named. */
const requestOf = (charge: Charge, token: PaymentToken | null, requestedAt: Date) => ({
  reference: attemptReference(charge),
  clientReference: charge.reference,
  amountMinor: charge.amount_minor,
  currency: charge.currency,
  customer: token ? methodOwner(token) : charge.customer,
  returnUrl: charge.return_url,
  requestedAt,
});

const methodOwner = ({ customer, method_email: email }: PaymentToken) => ({
  ...customer,
  email: email ?? customer.email,
});
