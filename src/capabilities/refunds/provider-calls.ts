import { readAll } from '../../core/providers/pages.js';
import type {
  PaymentProvider,
  PaymentTraits,
  Refund as ProviderRefund,
} from '../../core/providers/payment-provider.js';
import { faultOf, type ResendSafety, type Trace } from '../../core/providers/port.js';
import type { FactSource, InstructionFact } from '../../core/instructions/fact.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { failpoint } from '../../shared/failpoints.js';
import { logAttention, logIdsOf } from '../../core/supervision/attention-log.js';
import type { Log } from '../../shared/log.js';
import { refundWorkflowId, type Refund } from './record.js';
import type { Refunds } from './store.js';

type Reported = Pick<ProviderRefund, 'id' | 'amountMinor' | 'state' | 'code'>;

type Deps = {
  refunds: Pick<Refunds, 'applyFact' | 'noteProviderId' | 'forgetAccount' | 'raiseAttention'>;
  providers: { payment(name: string): PaymentProvider };
  log: Log;
};

/** The calls to the providers of refunds. */
export type RefundCalls = ReturnType<typeof createRefundCalls>;

/** Clocks differ, and a provider may date a refund by its day: the list is read from a day before the refund. */
const LIST_FROM_MS = 24 * 60 * 60 * 1000;

/**
 * Creates the provider calls of refunds. The provider takes no reference and refunds again for each accepted request, so
 * our id is sent as a note, and the refund with that note in the provider's list is ours.
 */
export function createRefundCalls(deps: Deps) {
  const { refunds, providers } = deps;
  const resume = createResumption(deps);
  const traitsOf = ({ provider }: Refund) => providers.payment(provider).payments;
  return {
    resendSafetyOf: (refund: Refund): ResendSafety => traitsOf(refund).refunds,

    /** The fact in a provider's report about this refund; null if the report is not final. */
    factOf(refund: Refund, theirs: Reported, origin: FactSource): InstructionFact | null {
      const state = stateOf(refund, theirs, traitsOf(refund));
      const reported = refundFactOf({ ...theirs, state }, origin);
      const fact =
        reported?.kind === 'succeeded' ? { ...reported, ...doubtOf(traitsOf(refund)) } : reported;
      if (fact?.kind !== 'rejected' || !isOpen(refund) || isSurely(refund, theirs)) return fact;
      return { ...fact, scope: 'request' };
    },

    async submit(refund: Refund, requestedAt: Date, signal: AbortSignal): Promise<ProviderOutcome> {
      const answer = await providers.payment(refund.provider).refund(
        {
          charge: chargeOf(refund),
          amountMinor: refund.amount_minor,
          currency: refund.currency,
          marker: refund._id,
          clientReference: refund.reference,
          requestedAt,
        },
        signal,
      );
      const { providerRequestId } = answer;
      if (answer.kind === 'rejected_temporarily') return notNow(deps, refund, answer);
      if (answer.kind === 'rejected') {
        const isOnly = refund.submissions - refund.rejected_submissions <= 1;
        return answer.scope !== 'request' || isOnly
          ? { kind: 'rejected', code: answer.code, providerRequestId }
          : { kind: 'unknown', reason: 'conflict', providerRequestId };
      }
      if (answer.kind !== 'accepted') return answer;
      await refunds.noteProviderId(refund, answer.refund.id);
      return outcomeOf(refund, answer.refund, traitsOf(refund), answer);
    },

    async verify(refund: Refund, signal: AbortSignal): Promise<ProviderOutcome> {
      const provider = providers.payment(refund.provider);
      const since = new Date(refund.created_at.getTime() - LIST_FROM_MS);
      const about = { ...chargeOf(refund), since };
      const answer = await readAll((cursor) => provider.findRefunds({ ...about, cursor }, signal));
      const { kind, providerRequestId } = answer;
      if (kind === 'unknown') return answer;
      // The charge was paid at this provider, so "charge not found" proves nothing about its refunds.
      if (kind !== 'all') return { kind: 'unknown', reason: 'unreadable', providerRequestId };
      const [first, ...others] = answer.items
        .filter((theirs) => isSame(refund, theirs))
        .toSorted((a, b) => RANK[a.state] - RANK[b.state]);
      if (!first) return { kind: 'not_found', providerRequestId };
      const by = { via: 'poll', actor: null, note: null, providerRequestId } as const;
      for (const other of others) {
        const fact = other.state === 'succeeded' && refundFactOf(other, by);
        if (fact) await refunds.applyFact(refund, fact);
      }
      // A rejected one may be another one under the same note.
      const isKnown = first.state !== 'rejected' || isSurely(refund, first);
      if (isKnown) await refunds.noteProviderId(refund, first.id);
      if (refund.customer_account) {
        const resumed = await resume(refund, first, signal);
        if (resumed) return resumed;
      }
      const state = stateOf(refund, first, traitsOf(refund));
      // A second account is needed for the same reason as the first one, which the workflow has raised already.
      if (state === 'needs_account' && !refund.attention) {
        await callOperator(deps, refund, NEEDS_ACCOUNT);
      }
      return outcomeOf(refund, { ...first, state }, traitsOf(refund), answer);
    },
  };
}

/** The mark of a success that may be older than the failure of its refund, if the provider fails refunds that it has made. */
const doubtOf = ({ lateRefusals }: PaymentTraits) =>
  lateRefusals ? { unlessFailed: true as const } : {};

/** Raises attention, with its line in the log. */
async function callOperator({ refunds, log }: Deps, refund: Refund, reason: string): Promise<void> {
  const { tenant_id: tenantId, _id: id } = refund;
  if (!(await refunds.raiseAttention(tenantId, id, reason))) return;
  logAttention(log, { ...logIdsOf(refund, refundWorkflowId(id)), reason });
}

/** The outcome of a refund that can be requested again. If only a person can find out why it was refused, one is called. */
async function notNow(
  deps: Deps,
  refund: Refund,
  answer: Trace & { afterMs: number },
): Promise<ProviderOutcome> {
  if (answer.fault === 'bad_request') await callOperator(deps, refund, REFUSED_AS_WRONG);
  const { afterMs: retryAfterMs, providerRequestId } = answer;
  return { kind: 'throttled', retryAfterMs, providerRequestId, ...faultOf(answer) };
}

/**
 * Creates the function that sends the customer's account to the provider if it waits for one. A repeat is safe: the provider
 * takes an account only while it waits. It returns null if the provider's state counts as it is.
 */
const createResumption =
  ({ refunds, providers }: Deps) =>
  async (
    refund: Refund,
    { id, state }: ProviderRefund,
    signal: AbortSignal,
  ): Promise<ProviderOutcome | null> => {
    const { resumeRefund, payments: traits } = providers.payment(refund.provider);
    const { customer_account: account } = refund;
    if (state !== 'needs_account' || !account || !resumeRefund || id === null) {
      // An earlier request has reached the provider, although its answer was lost.
      if (state !== 'needs_account' && account) await refunds.forgetAccount(refund, account, null);
      return null;
    }
    const to = { account: account.number, bankCode: account.bank_code };
    const answer = await resumeRefund({ id, account: to }, signal);
    failpoint('refund.resumed');
    const { providerRequestId } = answer;
    if (answer.kind === 'accepted') {
      await refunds.forgetAccount(refund, account, null);
      return outcomeOf(refund, answer.refund, traits, answer);
    }
    if (answer.kind === 'rejected') {
      await refunds.forgetAccount(refund, account, ACCOUNT_REFUSED);
    }
    return { kind: 'pending', providerRequestId, ...faultOf(answer) };
  };

/** The refunded charge, as its provider is asked about it. */
export const chargeOf = (refund: Refund) => ({
  reference: refund.provider_charge_reference,
  handle: refund.provider_charge_handle,
});

/** True for this refund in a list: by the provider's id, or by our note. The money of a dispute is booked there. */
const isSame = (refund: Refund, { id, marker, dispute }: ProviderRefund): boolean => {
  if (dispute !== null) return false;
  if (marker === refund._id) return true;
  return refund.provider_refund_id !== null && id === refund.provider_refund_id;
};

/**
 * If several refunds have our note, a completed one outranks a pending one, that one a returned one, and that one a rejected
 * one.
 */
const RANK = { succeeded: 0, needs_account: 1, pending: 1, returned: 2, rejected: 3 } as const;

/** The reason of attention of a refund that waits for the customer's account. */
export const NEEDS_ACCOUNT = 'the provider needs an account of the customer for this refund';

/** The reason of attention of a refund whose request is refused with a text that no table has. */
const REFUSED_AS_WRONG =
  'the provider refuses the request for this refund, for a reason that Bursar does not know';

const ACCOUNT_REFUSED = 'the provider refuses the account of the customer for this refund';

/** The outcome in the provider's answer. `refund` is the record as it was before the question. */
function outcomeOf(
  { currency, status }: Refund,
  theirs: ProviderRefund,
  traits: PaymentTraits,
  { providerRequestId }: Trace,
): ProviderOutcome {
  const { id, amountMinor, state } = theirs;
  switch (state) {
    case 'rejected':
      return { kind: 'rejected', code: refusalOf(theirs), providerRequestId };
    case 'pending':
      return { kind: 'pending', providerRequestId };
    case 'needs_account': {
      const result = { kind: 'mismatch', attention: NEEDS_ACCOUNT } as const;
      return { kind: 'pending', providerRequestId, result };
    }
    case 'returned':
    case 'succeeded': {
      const kind = state === 'returned' ? ('reversed' as const) : state;
      const doubt = kind === 'succeeded' && status !== 'failed' ? doubtOf(traits) : {};
      const paid = { kind, amountMinor, sessionId: id, providerRequestId, ...doubt };
      if (theirs.currency === currency) return paid;
      const attention = 'the provider reports another currency than was requested';
      return { ...paid, result: { kind: 'mismatch', attention } };
    }
  }
}

const refusalOf = ({ code }: Pick<ProviderRefund, 'code'>) => code ?? 'refund_refused';

/** The state that a report means for a refund of which it is known whether it was made. */
function stateOf(
  refund: Refund,
  theirs: Reported,
  { lateRefusals }: PaymentTraits,
): ProviderRefund['state'] {
  const { state } = theirs;
  const wasMade = refund.status === 'completed' || refund.in_suspense;
  const isLate = state === 'rejected' && wasMade && isSurely(refund, theirs);
  return isLate && lateRefusals ? lateRefusals : state;
}

/**
 * True if a report with our note is about this refund and not about another one that was made under the same note. If the
 * provider may have accepted several requests, only its id tells.
 */
function isSurely(
  { provider_refund_id: known, submissions, rejected_submissions: notTaken }: Refund,
  { id }: Pick<Reported, 'id'>,
): boolean {
  if (known !== null && id !== null) return known === id;
  return submissions - notTaken <= 1;
}

function refundFactOf(theirs: Reported, origin: FactSource): InstructionFact | null {
  const { id, amountMinor, state } = theirs;
  switch (state) {
    case 'succeeded':
      return { ...origin, kind: 'succeeded', amountMinor, sessionId: id };
    case 'returned':
      return { ...origin, kind: 'reversed', amountMinor, sessionId: id };
    case 'rejected':
      return { ...origin, kind: 'rejected', code: refusalOf(theirs) };
    case 'pending':
    case 'needs_account':
      return null;
  }
}
