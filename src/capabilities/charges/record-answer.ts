import { failpoint } from '../../shared/failpoints.js';
import type { ChargeAnswer, VerifyChargeAnswer } from '../../core/providers/payment-provider.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import { isOpen } from '../../core/instructions/instruction.js';
import type { Charge } from './charge.js';
import type { ChargeFact } from './transitions.js';
import type { Charges } from './store.js';

type Answer = ChargeAnswer | VerifyChargeAnswer;
type Via = 'provider_answer' | 'poll';

/** Books what the provider said of a charge, and answers what that came to. */
export function createHearing(charges: Pick<Charges, 'applyFact'>, clock: () => Date) {
  return async (before: Charge, answer: Answer, via: Via): Promise<ProviderOutcome> => {
    const { providerRequestId } = answer;
    const fact = toFact(before, answer, via, clock());
    if (fact === null) return stillOpen(before, answer, clock());
    failpoint('charge.answered');
    const outcome = await charges.applyFact(before, fact);
    const after = outcome.kind === 'fact' ? outcome.charge : before;
    if (answer.kind === 'succeeded') return heardPaid(after, answer);
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

function heardPaid(
  { status, attention }: Charge,
  { amountMinor, providerRequestId }: Extract<Answer, { kind: 'succeeded' }>,
): ProviderOutcome {
  const paid = { kind: 'succeeded', amountMinor, sessionId: null, providerRequestId } as const;
  if (status === 'completed') return paid;
  const why = attention?.reason ?? 'the payment is not as it was asked for';
  return { ...paid, result: { kind: 'mismatch', attention: why } };
}

/** The outcome of an answer that is not final. */
function stillOpen(before: Charge, answer: Answer, now: Date): ProviderOutcome {
  const { providerRequestId } = answer;
  switch (answer.kind) {
    case 'pending': {
      const heard = { kind: 'pending', providerRequestId } as const;
      if (before.expires_at === null) return heard;
      // A page whose address never reached us is as good as none: it may be asked for again.
      if (before.next_action === null) return { ...heard, kind: 'not_found' };
      return { ...heard, result: customersTurn(before, now, answer.awaits) };
    }
    case 'not_found':
    case 'throttled':
    case 'unknown':
      return answer;
    default:
      return { kind: 'pending', providerRequestId };
  }
}

/** Nobody is late: it is asked about slowly, and once more when the customer's time is over. */
export function customersTurn(
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
