import { failpoint } from '../../shared/failpoints.js';
import type {
  ChargeAnswer,
  Decline,
  PaymentProvider,
  VerifyChargeAnswer,
} from '../../core/providers/payment-provider.js';
import { faultOf, type Rejected } from '../../core/providers/port.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { awaitsCustomer, earlierOf, isOfPage, type Charge } from './record.js';
import type { Charges } from './store.js';
import type { ChargeFact } from './facts.js';

/** An answer about a charge: to a request for its page, to its submission, or to a question. */
export type Answer =
  Awaited<ReturnType<PaymentProvider['openPage']>> | ChargeAnswer | VerifyChargeAnswer;

type Via = 'provider_answer' | 'poll';

type Deps = {
  charges: Pick<Charges, 'applyFact' | 'requireAction' | 'noteDecline' | 'awaitConfirmation'>;
  providers: { payment(name: string): PaymentProvider };
  /** The time that a customer has to pay. */
  expiresAfterMs: number;
  clock: () => Date;
};

/** Pages of one charge, if the addresses of all but the last are lost. Then an operator is called. */
const MAX_PAGES = 5;

/** Creates the function that commits the fact of a provider's answer, and returns the outcome for the workflow. */
export function createAnswerRecorder({ charges, providers, expiresAfterMs, clock }: Deps) {
  async function record(
    before: Charge,
    answer: Answer,
    via: Via,
    { opensPages = false } = {},
  ): Promise<ProviderOutcome> {
    const now = clock();
    const fact = dueFactIn(before, answer, via, { now, expiresAfterMs });
    if (fact !== null) return applyFact(before, fact, answer);
    const page = pageIn(answer);
    if (page) return requireAction(before, page);
    if (answer.kind === 'pending' && answer.lastDecline !== null) {
      await charges.noteDecline(before, answer.lastDecline);
    }
    if (isOpenPage(answer) && hasLostPage(before)) return lostPage(before, answer, opensPages);
    if (via === 'poll' && hasLostConfirmation(before, answer)) {
      return awaitConfirmation(charges, before, answer, { now, expiresAfterMs });
    }
    return outcomeOf(before, answer, via, now);
  }

  /** The customer must act on this page. */
  async function requireAction(before: Charge, page: PageAddress): Promise<ProviderOutcome> {
    failpoint('charge.answered');
    const now = clock();
    const { closesAt, ...address } = page;
    const expiresAt = earlierOf(new Date(now.getTime() + expiresAfterMs), closesAt);
    const after = await charges.requireAction(before, { ...address, expiresAt });
    const result = awaitingCustomer(after ?? before, now);
    return { kind: 'pending', providerRequestId: page.providerRequestId, result };
  }

  /**
   * The page exists, and its address was lost. It is asked for again, or given up for another one, as its provider allows.
   */
  async function lostPage(
    before: Charge,
    answer: Answer,
    opensPages: boolean,
  ): Promise<ProviderOutcome> {
    const { providerRequestId } = answer;
    const { pages } = providers.payment(before.provider).payments;
    if (pages === 'repeatable') return { kind: 'not_found', providerRequestId };
    if (before.attempt >= MAX_PAGES) {
      const attention = 'the addresses of all its pages were lost';
      const result = { kind: 'mismatch', attention } as const;
      return { kind: 'pending', providerRequestId, result };
    }
    if (!opensPages) return { kind: 'pending', providerRequestId };
    const origin = { via: 'poll', actor: null, providerRequestId, note: null } as const;
    const fact = { ...origin, attempt: before.attempt, kind: 'page_lost' } as const;
    return applyFact(before, fact, answer);
  }

  async function applyFact(
    before: Charge,
    fact: ChargeFact,
    answer: Answer,
  ): Promise<ProviderOutcome> {
    const { providerRequestId } = answer;
    failpoint('charge.answered');
    const outcome = await charges.applyFact(before, fact);
    const after = outcome.kind === 'fact' ? outcome.charge : before;
    if (answer.kind === 'succeeded' && fact.kind === 'succeeded')
      return paidOutcome(after, answer, before.attempt);
    if (!isOpen(after)) {
      return { kind: 'rejected', code: after.failure?.code ?? fact.kind, providerRequestId };
    }
    return {
      kind: 'pending',
      providerRequestId,
      ...(after.submissions === 0 && { result: 'not_submitted' }),
    };
  }

  return record;
}

/**
 * The customer has to confirm a saved method on a page whose address was lost, so it waits for the customer's time. A second attempt
 * could charge the customer twice: the provider may say the same of an attempt that needs no page.
 */
async function awaitConfirmation(
  charges: Pick<Charges, 'awaitConfirmation'>,
  before: Charge,
  answer: Answer,
  { now, expiresAfterMs }: { now: Date; expiresAfterMs: number },
): Promise<ProviderOutcome> {
  const expires_at = new Date(now.getTime() + expiresAfterMs);
  await charges.awaitConfirmation(before, expires_at);
  return outcomeOf({ ...before, expires_at }, answer, 'poll', now);
}

/** `closesAt`: when the provider closes the page; null if it never does. */
type PageAddress = {
  url: string;
  handle: string | null;
  closesAt: Date | null;
  providerRequestId: string | null;
};

/** The page in an answer: the charge's own, or one on which the customer confirms it. */
function pageIn(answer: Answer): PageAddress | null {
  const { providerRequestId } = answer;
  if (answer.kind === 'page') {
    const { url, handle, expiresAt: closesAt } = answer;
    return { url, handle, closesAt, providerRequestId };
  }
  if (answer.kind !== 'pending' || answer.redirect === null) return null;
  return { url: answer.redirect, handle: null, closesAt: null, providerRequestId };
}

/** True if the provider has yet to decide, within the customer's own time: this goes on after it has closed the page. */
const isBeingPaid = (
  { created_at: createdAt }: Charge,
  answer: Answer,
  { now, expiresAfterMs }: { now: Date; expiresAfterMs: number },
): boolean =>
  answer.kind === 'pending' &&
  answer.awaits === 'provider' &&
  now.getTime() < createdAt.getTime() + expiresAfterMs;

/** The fact that an answer proves now; null if it is not final, or nobody can tell while the payment is being decided. */
const dueFactIn = (
  charge: Charge,
  answer: Answer,
  via: Via,
  times: { now: Date; expiresAfterMs: number },
): ChargeFact | null =>
  isBeingPaid(charge, answer, times) ? null : factIn(charge, answer, via, times.now);

/** True if the answer proves that there is a page that can be paid. */
const isOpenPage = ({ kind }: Answer): boolean => kind === 'pending' || kind === 'abandoned';

/** True if nobody has the address of an open charge's page. A charge that has ended has no address either. */
const hasLostPage = (charge: Charge): boolean =>
  isOpen(charge) && isOfPage(charge) && charge.next_action === null;

/** True if the customer has to confirm a saved method, as the provider says, on a page of which it gives no address. */
const hasLostConfirmation = (charge: Charge, answer: Answer): boolean =>
  isOpen(charge) &&
  !isOfPage(charge) &&
  !awaitsCustomer(charge) &&
  answer.kind === 'pending' &&
  answer.awaits === 'customer';

/** The outcome of an answer that this attempt was paid. */
function paidOutcome(
  { status, attention, suspended }: Charge,
  { amountMinor, providerRequestId }: Extract<Answer, { kind: 'succeeded' }>,
  attempt: number,
): ProviderOutcome {
  const payment = suspended.find((each) => each.attempt === attempt);
  // The charge fails once its payment is with the customer again.
  if (payment?.returning !== undefined) return { kind: 'pending', providerRequestId };
  const paid = { kind: 'succeeded', amountMinor, sessionId: null, providerRequestId } as const;
  if (status === 'completed') return paid;
  const why = attention?.reason ?? 'the payment differs from the request';
  const inSuspense = payment?.amount_minor === amountMinor;
  const accepted = inSuspense ? { amountMinor: Number(amountMinor) } : {};
  return { ...paid, result: { kind: 'mismatch', attention: why, ...accepted } };
}

/** The outcome of an answer that is no fact. */
function outcomeOf(before: Charge, answer: Answer, via: Via, now: Date): ProviderOutcome {
  const { providerRequestId } = answer;
  const pending = { kind: 'pending', providerRequestId } as const;
  switch (answer.kind) {
    case 'pending':
      return before.expires_at === null || before.expires_at <= now
        ? pending
        : { ...pending, result: awaitingCustomer(before, now, answer.awaits) };
    case 'abandoned':
      return { ...pending, result: awaitingCustomer(before, now) };
    case 'reversed': {
      const attention = 'the provider reports that it was paid and taken back';
      const reversed = { providerRequestId, kind: 'reversed', amountMinor: null } as const;
      return {
        ...reversed,
        sessionId: null,
        ...(isOpen(before) && { result: { kind: 'mismatch', attention } }),
      };
    }
    case 'rejected_temporarily':
      if (answer.reason === 'stale_handle') return answer;
      return {
        kind: 'throttled',
        retryAfterMs: answer.afterMs,
        providerRequestId,
        ...faultOf(answer),
      };
    case 'not_found':
    case 'throttled':
    case 'unknown':
      return answer;
    case 'rejected':
      // This request alone is rejected: an earlier one under this reference may have had an effect.
      return via === 'poll' ? { kind: 'unknown', reason: 'conflict', providerRequestId } : answer;
    default:
      return pending;
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
export function factIn(charge: Charge, answer: Answer, via: Via, now: Date): ChargeFact | null {
  const { providerRequestId } = answer;
  const { attempt, expires_at: expiresAt } = charge;
  const origin = { via, actor: null, providerRequestId, note: null, attempt };
  if (isReturned(charge, answer)) {
    return { ...origin, kind: 'rejected', code: 'payment_returned', decline: 'hard' };
  }
  switch (answer.kind) {
    case 'succeeded': {
      const { kind, amountMinor, surchargeMinor, currency, feeMinor, method } = answer;
      return { ...origin, kind, amountMinor, surchargeMinor, currency, feeMinor, method };
    }
    case 'declined':
      return { ...origin, kind: 'rejected', code: answer.code, decline: answer.decline };
    case 'rejected':
      return isConclusive(charge, answer)
        ? { ...origin, kind: 'rejected', code: answer.code, decline: 'hard' }
        : null;
    case 'cancelled':
      return { ...origin, kind: 'cancelled' };
    case 'pending':
    case 'abandoned':
    case 'not_found': {
      // A page that does not exist can't be paid.
      if (answer.kind === 'not_found' && charge.cancel_requested_at !== null && isOfPage(charge)) {
        return { ...origin, kind: 'cancelled' };
      }
      const over = via === 'poll' && expiresAt !== null && expiresAt <= now;
      if (!over || !isOpen(charge)) return null;
      const decline = declineIn(charge, answer);
      return decline ? { ...origin, kind: 'rejected', ...decline } : { ...origin, kind: 'expired' };
    }
    default:
      return null;
  }
}

/** The decline of a saved method on the page that it wanted: once that page is over, this is how the attempt has ended. */
function declineIn(charge: Charge, answer: Answer): Decline | null {
  if (isOfPage(charge)) return null;
  if (answer.kind === 'pending' && answer.lastDecline !== null) return answer.lastDecline;
  const { last_decline: code, last_decline_kind: decline = 'hard' } = charge;
  return code === null ? null : { code, decline };
}

/** True if the answer reports the payment of an open charge that was returned from suspense. */
const isReturned = (charge: Charge, { kind }: Answer): boolean =>
  (kind === 'succeeded' || kind === 'reversed') &&
  isOpen(charge) &&
  charge.returned_attempts.includes(charge.attempt);

/** A refused request ends the attempt if no other request under its reference can have had an effect. */
const isConclusive = (
  { submissions, rejected_submissions: rejected }: Charge,
  { scope }: Rejected,
): boolean => scope !== 'request' || submissions - rejected <= 1;
