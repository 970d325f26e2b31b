import { failpoint } from '../../shared/failpoints.js';
import type { WithoutDeadline } from '../../platform/http/context.js';
import type {
  PaymentProvider,
  ChargeAnswer,
  ChargePageRequest,
  VerifyChargeAnswer,
} from '../../core/providers/payment-provider.js';
import type { ResendSafety } from '../../core/providers/transfer-provider.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import type { Tokens } from '../payment-tokens/index.js';
import type { PaymentToken } from '../payment-tokens/payment-token.js';
import { attemptReference, type Charge } from './charge.js';
import type { Charges } from './store.js';
import { isOpen } from '../../core/instructions/instruction.js';
import type { ChargeFact } from './transitions.js';

type Deps = {
  charges: Pick<Charges, 'applyFact' | 'requireAction' | 'noteDecline'>;
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
  const recordAnswer = createAnswerRecorder(charges, clock);

  const tokenOf = async ({ tenant_id: tenantId, payment_token_id: id }: Charge) =>
    id === null ? null : tokens.get(tenantId, id);

  /** A page for the customer. */
  async function open(
    charge: Charge,
    requestedAt: Date,
    signal: AbortSignal,
  ): Promise<ProviderOutcome> {
    const token = await tokenOf(charge);
    const request = {
      ...requestOf(charge, token, requestedAt),
      channel: channelOf(token),
      returnUrl: charge.return_url,
    };
    const answer = await providers.payment(charge.provider).initializeCharge(request, signal);
    if (answer.kind === 'redirect') {
      const { url, providerRequestId } = answer;
      failpoint('charge.answered');
      const now = await charges.requireAction(charge, url, providerRequestId);
      return {
        kind: 'pending',
        providerRequestId,
        result: awaitingCustomer(now ?? charge, clock()),
      };
    }
    if (answer.kind !== 'rejected') return answer;
    return recordAnswer(charge, { ...answer, decline: 'hard' }, 'provider_answer');
  }

  /** Charges the customer's authorization at the provider. */
  async function chargeToken(charge: Charge, requestedAt: Date, signal: AbortSignal) {
    const token = await tokenOf(charge);
    if (token?.status !== 'active' || token.authorization === null) {
      const revoked = { kind: 'rejected', code: 'token_revoked', decline: 'hard' } as const;
      return recordAnswer(charge, { ...revoked, providerRequestId: null }, 'provider_answer');
    }
    const request = {
      ...requestOf(charge, token, requestedAt),
      authorization: token.authorization,
    };
    const answer = await providers.payment(charge.provider).chargeAuthorization(request, signal);
    return recordAnswer(charge, answer, 'provider_answer');
  }

  return {
    resendSafetyOf: ({ capture_mode: mode, provider }: Charge): ResendSafety =>
      // A page moves no money by itself.
      mode === 'customer_action_required'
        ? { kind: 'idempotent', forMs: null }
        : providers.payment(provider).payments.charges,

    submit: (charge: Charge, requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome> =>
      (charge.capture_mode === 'merchant_initiated' ? chargeToken : open)(
        charge,
        requestedAt,
        signal,
      ),

    /** `withoutDeadline` excludes the provider's time from the deadline of the request. */
    async verify(
      charge: Charge,
      signal: AbortSignal,
      withoutDeadline: WithoutDeadline = (wait) => wait,
    ): Promise<ProviderOutcome> {
      const provider = providers.payment(charge.provider);
      const answer = await withoutDeadline(provider.verifyCharge(attemptReference(charge), signal));
      return recordAnswer(charge, answer, 'poll');
    },
  };
}

/** The means of payment that the page offers. */
const channelOf = (token: PaymentToken | null): ChargePageRequest['channel'] =>
  token?.type === 'bank_account' && token.account_number && token.bank_code
    ? { type: 'bank_account', account: token.account_number, bankCode: token.bank_code }
    : { type: 'card' };

/** An authorization belongs to the customer that it was made for, so the token's customer is named. */
const requestOf = (charge: Charge, token: PaymentToken | null, requestedAt: Date) => ({
  reference: attemptReference(charge),
  clientReference: charge.reference,
  amountMinor: charge.amount_minor,
  currency: charge.currency,
  customer: token?.customer ?? charge.customer,
  requestedAt,
});

type Answer = ChargeAnswer | VerifyChargeAnswer;
type Via = 'provider_answer' | 'poll';

/** Creates the function that commits a provider's final answer and returns the outcome for the workflow. */
function createAnswerRecorder(
  charges: Pick<Charges, 'applyFact' | 'noteDecline'>,
  clock: () => Date,
) {
  return async (before: Charge, answer: Answer, via: Via): Promise<ProviderOutcome> => {
    const { providerRequestId } = answer;
    const fact = toFact(before, answer, via, clock());
    if (fact === null) {
      const declined = answer.kind === 'pending' ? answer.lastDecline : undefined;
      if (declined !== undefined) await charges.noteDecline(before, declined);
      return stillOpen(before, answer, clock());
    }
    failpoint('charge.answered');
    const outcome = await charges.applyFact(before, fact);
    const after = outcome.kind === 'fact' ? outcome.charge : before;
    if (answer.kind === 'succeeded') return paidOutcome(after, answer);
    if (!isOpen(after)) {
      const code = after.failure?.code ?? fact.kind;
      return { kind: 'rejected', code, providerRequestId };
    }
    return {
      kind: 'pending',
      providerRequestId,
      ...(after.submissions === 0 && { result: 'not_submitted' }),
    };
  };
}

function paidOutcome(
  { status, attempt, attention, suspended, returned_attempts: returned }: Charge,
  { amountMinor, providerRequestId }: Extract<Answer, { kind: 'succeeded' }>,
): ProviderOutcome {
  const paid = { kind: 'succeeded', amountMinor, sessionId: null, providerRequestId } as const;
  if (status === 'completed') return paid;
  // The customer has the payment back. The charge stays open until its page is over, without an operator.
  if (returned.includes(attempt)) return { kind: 'pending', providerRequestId };
  const why = attention?.reason ?? 'the payment differs from the request';
  const inSuspense = suspended.some((payment) => payment.amount_minor === amountMinor);
  const accepted = inSuspense ? { amountMinor: Number(amountMinor) } : {};
  return { ...paid, result: { kind: 'mismatch', attention: why, ...accepted } };
}

/** The outcome of an answer that is not final. */
function stillOpen(before: Charge, answer: Answer, now: Date): ProviderOutcome {
  const { providerRequestId } = answer;
  switch (answer.kind) {
    case 'pending': {
      const pending = { kind: 'pending', providerRequestId } as const;
      if (before.expires_at === null) return pending;
      // A page whose address is unknown is useless, so it is requested again.
      if (before.next_action === null) return { ...pending, kind: 'not_found' };
      return { ...pending, result: awaitingCustomer(before, now, answer.awaits) };
    }
    case 'not_found':
    case 'throttled':
    case 'unknown':
      return answer;
    default:
      return { kind: 'pending', providerRequestId };
  }
}

/** The customer has to act: the charge is verified slowly, and once more when the customer's time has ended. */
function awaitingCustomer(
  { expires_at: at }: Charge,
  now: Date,
  awaits: 'customer' | 'provider' = 'customer',
) {
  const untilMs = at === null ? 1 : Math.max(1, at.getTime() - now.getTime());
  return { kind: 'pending', untilMs, ...(awaits === 'customer' && { idle: true }) } as const;
}

/** The fact that an answer proves; null if it is not final. */
function toFact(charge: Charge, answer: Answer, via: Via, now: Date): ChargeFact | null {
  const { providerRequestId } = answer;
  const { attempt, expires_at: expiresAt } = charge;
  const origin = { via, actor: null, providerRequestId, note: null, attempt };
  switch (answer.kind) {
    case 'succeeded': {
      const { kind, amountMinor, currency, feeMinor, authorization } = answer;
      return { ...origin, kind, amountMinor, currency, feeMinor, authorization };
    }
    case 'rejected':
      return { ...origin, kind: 'rejected', code: answer.code, decline: answer.decline };
    case 'abandoned':
      return { ...origin, kind: 'abandoned' };
    case 'pending':
    case 'not_found': {
      const over = via === 'poll' && expiresAt !== null && expiresAt <= now;
      return over && isOpen(charge) ? { ...origin, kind: 'expired' } : null;
    }
    case 'throttled':
    case 'unknown':
      return null;
  }
}
