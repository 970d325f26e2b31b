import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Log } from '../src/log.js';
import type { InitiateAnswer, TransferProvider, VerifyAnswer } from '../src/providers/provider.js';
import type { FactOrigin, TransferFact } from '../src/transfers/facts.js';
import type {
  CallReport,
  FactReport,
  ResolveReport,
  SettleReport,
  TransferRef,
} from '../src/transfers/reports.js';
import type { Transfers } from '../src/transfers/store.js';
import { isOpen, type TimelineType, type Transfer } from '../src/transfers/transfer.js';

export type TransferActivityDeps = {
  transfers: Transfers;
  providers: { transfer(name: string): TransferProvider };
  log: Log;
};
type Deps = TransferActivityDeps;

/** The payment does not depend on the name: the bank checks the account again when it pays. */
const NAME_ENQUIRY_WITHIN_MS = 3_000;

type SettleOptions = TransferRef & {
  fact: FactReport;
  /** Who brought the fact about, where it was not the provider alone. */
  operator?: { actor: string; reason: string };
};
type VerifyOptions = {
  nextPollMs: number;
  /** Ask although the record is closed: an operator wants to know what the bank says. */
  anyway?: boolean;
};

/** One effect each: tell or ask the provider, or write to our store. Decisions are the workflow's. */
export function createTransferActivities(deps: Deps) {
  const { transfers } = deps;
  return {
    /** Takes the permission to send that `sends` names and uses it, at once and at most once. */
    submitTransfer: (ref: TransferRef & { sends: number }) => submitTransfer(deps, ref),

    /** Asks the provider what became of the order, by our reference. Sends nothing. */
    verifyTransfer: (ref: TransferRef & VerifyOptions) => verifyTransfer(deps, ref),

    /** Name enquiry for a transfer that was accepted while the bank did not answer it. */
    resolveRecipient: (ref: TransferRef) => resolveRecipient(deps, ref),

    /** Books what the provider said, through the state guard. Repeatable without limit. */
    settleTransfer: (ref: SettleOptions) => settleTransfer(deps, ref),

    /** What an operator did, with the outcome, on the timeline. */
    noteOperator: (ref: TransferRef & { actor: string; detail: string }): Promise<void> =>
      transfers.note(ref.tenant, ref.id, 'operator', ref.actor, { detail: ref.detail }),

    raiseAttention: (ref: TransferRef & { reason: string }): Promise<void> =>
      transfers.raiseAttention(ref.tenant, ref.id, ref.reason),

    noteCancellation: (ref: TransferRef): Promise<void> =>
      transfers.note(ref.tenant, ref.id, 'note', 'temporal', {
        detail:
          'a cancellation was asked for in Temporal and not followed: money may be on its way',
      }),
  };
}

/** See the activity of that name; batches let their orders out by it too. */
export async function submitTransfer(
  { transfers, providers, log }: Deps,
  ref: TransferRef & { sends: number },
): Promise<CallReport> {
  // Before the permission: the order's own time must not be younger than the decision to send it.
  const requestedAt = new Date();
  const transfer = await transfers.permitSend(ref.tenant, ref.id, ref.sends, 'bursar');
  if (!transfer) {
    const present = await load(transfers, ref);
    const attention = present.attention?.reason ?? null;
    if (!isOpen(present)) return { kind: 'closed', status: closedAs(present), attention };
    if (present.sends === 0) return { kind: 'unsent', sends: 0 };
    return { kind: 'not_permitted', attention };
  }
  const provider = providers.transfer(transfer.provider);
  const { account, bank_code: bankCode, name } = transfer.recipient;
  const order = {
    reference: transfer._id,
    clientReference: transfer.reference,
    amountMinor: transfer.amount_minor,
    currency: transfer.currency,
    recipient: { account, bankCode, name },
    narration: transfer.narration,
    requestedAt,
  };
  const answer = await provider.initiate(order, cancellationSignal());
  if (!isFinal(answer)) {
    // Support reads this; a failure to write it must not turn an answer into silence.
    await noteAnswer(transfers, ref, 'provider_answer', provider.name, answer).catch(
      (error: unknown) => log.warn({ err: error, transfer: ref.id }, 'timeline not written'),
    );
  }
  return toReport(answer, transfer.sends);
}

async function verifyTransfer(
  { transfers, providers }: Deps,
  ref: TransferRef & VerifyOptions,
): Promise<CallReport> {
  const transfer = await load(transfers, ref);
  if (!isOpen(transfer) && !ref.anyway && !(await isWatched(transfers, transfer))) {
    const attention = transfer.attention?.reason ?? null;
    return { kind: 'closed', status: closedAs(transfer), attention };
  }
  if (transfer.sends === 0) return { kind: 'unsent', sends: 0 };
  const provider = providers.transfer(transfer.provider);
  const answer = await provider.verify(transfer._id, cancellationSignal());
  if (!isFinal(answer)) {
    await transfers.countPoll(ref.tenant, ref.id, ref.nextPollMs);
    // "Pending" teaches nothing, nor does a repeat; what may end in another send belongs on the timeline.
    if (answer.kind === 'not_found' && transfer.timeline.at(-1)?.detail !== answer.kind) {
      await noteAnswer(transfers, ref, 'poll', provider.name, answer);
    }
  }
  return toReport(answer, transfer.sends);
}

async function resolveRecipient(
  { transfers, providers }: Deps,
  ref: TransferRef,
): Promise<ResolveReport> {
  const transfer = await load(transfers, ref);
  if (transfer.recipient.name !== null) return { kind: 'resolved' };
  const { account, bank_code: bankCode } = transfer.recipient;
  const answer = await providers
    .transfer(transfer.provider)
    .resolveAccount(
      { account, bankCode },
      AbortSignal.any([cancellationSignal(), AbortSignal.timeout(NAME_ENQUIRY_WITHIN_MS)]),
    );
  if (answer.kind === 'not_found') return { kind: 'no_such_account' };
  if (answer.kind === 'no_answer') return { kind: 'no_answer' };
  await transfers.nameRecipient(ref.tenant, ref.id, { name: answer.name, bank: answer.bankName });
  return { kind: 'resolved' };
}

async function settleTransfer(
  { transfers }: Deps,
  { operator, fact, ...ref }: SettleOptions,
): Promise<SettleReport> {
  const present = await load(transfers, ref);
  const origin: FactOrigin = {
    // What follows the order at once is its answer; anything later was asked for.
    via: operator
      ? 'operator'
      : present.timeline.at(-1)?.type === 'submitted'
        ? 'provider_answer'
        : 'poll',
    actor: operator?.actor ?? present.provider,
    providerRequestId: fact.providerRequestId,
    note: operator?.reason ?? null,
  };
  const outcome = await transfers.applyFact(ref.tenant, ref.id, toFact(fact, origin));
  if (outcome.kind !== 'fact') throw ApplicationFailure.nonRetryable('no such transfer');
  const { status, attention, watch_until: watchUntil } = outcome.transfer;
  return { status, attention: attention?.reason ?? null, watched: watchUntil !== null };
}

const closedAs = (transfer: Transfer) => (transfer.status === 'completed' ? 'completed' : 'failed');

/** Whether the bank still has to be asked about a transfer that was given up. Ends a watch whose time is over. */
async function isWatched(transfers: Transfers, transfer: Transfer): Promise<boolean> {
  if (transfer.watch_until === null) return false;
  if (transfer.watch_until > new Date()) return true;
  await transfers.endWatch(transfer.tenant, transfer._id);
  return false;
}

async function load(transfers: Transfers, { tenant, id }: TransferRef): Promise<Transfer> {
  const transfer = await transfers.get(tenant, id);
  if (!transfer) throw ApplicationFailure.nonRetryable('no such transfer', 'NoSuchTransfer');
  return transfer;
}

function noteAnswer(
  transfers: Transfers,
  { tenant, id }: TransferRef,
  type: TimelineType,
  actor: string,
  answer: InitiateAnswer | VerifyAnswer,
): Promise<void> {
  const detail = 'reason' in answer ? `${answer.kind}: ${answer.reason}` : answer.kind;
  const { providerRequestId } = answer;
  return transfers.note(tenant, id, type, actor, { detail, providerRequestId });
}

/** What ends a transfer; everything else leaves it open. */
const isFinal = (answer: InitiateAnswer | VerifyAnswer): boolean =>
  answer.kind === 'paid' || answer.kind === 'refused' || answer.kind === 'reversed';

/** Amounts cross Temporal as integers: its payloads are JSON. */
const wireAmount = (amountMinor: bigint | null) =>
  amountMinor === null ? null : Number(amountMinor);

function toReport(answer: InitiateAnswer | VerifyAnswer, sends: number): CallReport {
  const { providerRequestId } = answer;
  switch (answer.kind) {
    case 'paid':
    case 'reversed': {
      const { kind, sessionId } = answer;
      return { kind, sessionId, amountMinor: wireAmount(answer.amountMinor), providerRequestId };
    }
    case 'refused':
      return { kind: 'refused', code: answer.code, providerRequestId };
    case 'pending':
      return { kind: 'pending' };
    case 'throttled':
      return { kind: 'throttled', retryAfterMs: answer.retryAfterMs, sends };
    case 'not_found':
      return { kind: 'not_found', sends };
    case 'unknown':
      return { kind: 'unknown', reason: answer.reason, sends };
  }
}

/** Whether a report ends the transfer, or stands against what is booked. */
export const isFact = (report: CallReport): report is FactReport =>
  report.kind === 'paid' ||
  report.kind === 'refused' ||
  report.kind === 'reversed' ||
  report.kind === 'confirmed';

export function toFact(report: FactReport, origin: FactOrigin): TransferFact {
  if (report.kind === 'refused') return { ...origin, kind: 'refused', code: report.code };
  if (report.kind === 'confirmed') return { ...origin, kind: 'confirmed' };
  const amountMinor = report.amountMinor === null ? null : BigInt(report.amountMinor);
  return { ...origin, kind: report.kind, amountMinor, sessionId: report.sessionId };
}
