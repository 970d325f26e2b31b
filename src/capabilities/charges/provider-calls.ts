import { failpoint } from '../../shared/failpoints.js';
import type { WithoutDeadline } from '../../platform/http/context.js';
import type { PaymentProvider } from '../../core/providers/payment-provider.js';
import type { ResendSafety } from '../../core/providers/transfer-provider.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import type { Tokens } from '../payment-tokens/store.js';
import { attemptReference, type Charge } from './charge.js';
import { createHearing, customersTurn } from './record-answer.js';
import type { Charges } from './store.js';

type Deps = {
  charges: Pick<Charges, 'applyFact' | 'requireAction'>;
  tokens: Pick<Tokens, 'get'>;
  providers: { payment(name: string): PaymentProvider };
  clock?: () => Date;
};

/** The calls to the providers of charges. */
export type ChargeCalls = ReturnType<typeof createChargeCalls>;

/**
 * Creates the provider calls of charges. A final answer is committed here, because the customer's authorization that comes
 * with a payment must not enter a workflow's history: workflows get the result alone.
 */
export function createChargeCalls({ charges, tokens, providers, clock = () => new Date() }: Deps) {
  const hear = createHearing(charges, clock);

  const tokenOf = async ({ tenant_id: tenantId, payment_token_id: id }: Charge) =>
    id === null ? null : tokens.get(tenantId, id);

  /** A page for the customer. */
  async function open(
    charge: Charge,
    requestedAt: Date,
    signal: AbortSignal,
  ): Promise<ProviderOutcome> {
    const token = await tokenOf(charge);
    const channel =
      token?.type === 'bank_account' && token.account_number && token.bank_code
        ? {
            type: 'bank_account' as const,
            account: token.account_number,
            bankCode: token.bank_code,
          }
        : { type: 'card' as const };
    const order = { ...orderOf(charge, requestedAt), channel, returnUrl: charge.return_url };
    const answer = await providers.payment(charge.provider).initializeCharge(order, signal);
    if (answer.kind === 'redirect') {
      const { url, providerRequestId } = answer;
      failpoint('charge.answered');
      const now = await charges.requireAction(charge, url, providerRequestId);
      return { kind: 'pending', providerRequestId, result: customersTurn(now ?? charge, clock()) };
    }
    if (answer.kind !== 'rejected') return answer;
    return hear(charge, { ...answer, decline: 'hard' }, 'provider_answer');
  }

  /** Charges what the customer has left with the provider. */
  async function chargeToken(charge: Charge, requestedAt: Date, signal: AbortSignal) {
    const token = await tokenOf(charge);
    if (token?.status !== 'active' || token.authorization === null) {
      const revoked = { kind: 'rejected', code: 'token_revoked', decline: 'hard' } as const;
      return hear(charge, { ...revoked, providerRequestId: null }, 'provider_answer');
    }
    const order = { ...orderOf(charge, requestedAt), authorization: token.authorization };
    const answer = await providers.payment(charge.provider).chargeAuthorization(order, signal);
    return hear(charge, answer, 'provider_answer');
  }

  return {
    resendSafetyOf: ({ capture_mode: mode, provider }: Charge): ResendSafety =>
      // A page moves no money by itself.
      mode === 'customer_action_required'
        ? { kind: 'idempotent' }
        : providers.payment(provider).payments.charges,

    send: (charge: Charge, requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome> =>
      (charge.capture_mode === 'merchant_initiated' ? chargeToken : open)(
        charge,
        requestedAt,
        signal,
      ),

    /** `untimed` puts the time that the provider takes on nobody's clock. */
    async verify(
      charge: Charge,
      signal: AbortSignal,
      untimed: WithoutDeadline = (wait) => wait,
    ): Promise<ProviderOutcome> {
      const provider = providers.payment(charge.provider);
      const answer = await untimed(provider.verifyCharge(attemptReference(charge), signal));
      return hear(charge, answer, 'poll');
    },
  };
}

const orderOf = (charge: Charge, requestedAt: Date) => ({
  reference: attemptReference(charge),
  clientReference: charge.reference,
  amountMinor: charge.amount_minor,
  currency: charge.currency,
  customer: charge.customer,
  requestedAt,
});
