import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Log } from '../src/log.js';
import type { TransferProvider } from '../src/providers/provider.js';
import type { FactOrigin } from '../src/transfers/facts.js';
import type {
  CallReport,
  FactReport,
  ResolveReport,
  SettleReport,
  Standing,
  TransferRef,
} from '../src/transfers/reports.js';
import type { Transfers } from '../src/transfers/store.js';
import { isOpen, type Transfer } from '../src/transfers/transfer.js';
import { isFinal, sendsOf, toFact, toReport } from './reports.js';

export type TransferActivityDeps = {
  transfers: Transfers;
  providers: { transfer(name: string): TransferProvider };
  log: Log;
};
type Deps = TransferActivityDeps;

/** The payment does not depend on the name: the bank checks the account again when it pays. */
const NAME_ENQUIRY_WITHIN_MS = 3_000;
/** A permission that could not be used at once is not used: the workflow may have given this call up by then. */
const SEND_WITHIN_MS = 5_000;

type SubmitOptions = TransferRef & {
  /** How often the order has left us so far: names the one permission that this call may take. */
  sends: number;
  /** The timeline has it already that the bank does not take orders now. */
  quietly?: boolean;
};
type VerifyOptions = TransferRef & {
  nextPollMs: number;
  /** Ask although the record is closed: an operator wants to know what the bank says. */
  anyway?: boolean;
};
type SettleOptions = TransferRef & {
  fact: FactReport;
  /** Who brought the fact about, where it was not the provider alone. */
  operator?: { actor: string; reason: string };
};

/** One effect each: tell or ask the provider, or write to our store. Decisions are the workflow's. */
export function createTransferActivities(deps: Deps) {
  const { transfers } = deps;
  return {
    /** Takes the permission to send that `sends` names and uses it, at once and at most once. */
    submitTransfer: (options: SubmitOptions) => submitTransfer(deps, options),

    /** Asks the provider what became of the order, by our reference. Sends nothing. */
    verifyTransfer: (options: VerifyOptions) => verifyTransfer(deps, options),

    /** Name enquiry for a transfer that was accepted while the bank did not answer it. */
    resolveRecipient: (ref: TransferRef) => resolveRecipient(deps, ref),

    /** Books what the provider said, through the state guard. Repeatable without limit. */
    settleTransfer: (options: SettleOptions) => settleTransfer(deps, options),

    /** How the record stands, for an operator's command. */
    async readStanding(ref: TransferRef): Promise<Standing> {
      const { status, attention } = await load(transfers, ref);
      return { status, attention: attention?.reason ?? null };
    },

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
  { sends, quietly = false, ...ref }: SubmitOptions,
): Promise<CallReport> {
  // Before the permission: the order's own time must not be younger than the decision to send it.
  const requestedAt = new Date();
  const began = performance.now();
  const transfer = await transfers.permitSend(ref.tenant, ref.id, sends, quietly);
  if (!transfer) return whyNotPermitted(transfers, await load(transfers, ref));
  const sent = sendsOf(transfer);
  if (performance.now() - began > SEND_WITHIN_MS) {
    return { kind: 'unknown', reason: 'too_old', ...sent };
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
    const extra = { notTaken: answer.kind === 'throttled', quietly };
    await transfers
      .noteAnswer(ref.tenant, ref.id, provider.name, answer, extra)
      .catch((error: unknown) => log.warn({ err: error, transfer: ref.id }, 'answer not noted'));
  }
  return toReport(answer, 'provider_answer', provider, sent);
}

async function whyNotPermitted(transfers: Transfers, present: Transfer): Promise<CallReport> {
  const attention = present.attention?.reason ?? null;
  if (isOpen(present)) {
    return present.sends === 0
      ? { kind: 'unsent', ...sendsOf(present) }
      : { kind: 'not_permitted', attention };
  }
  return (await isWatched(transfers, present))
    ? { kind: 'not_permitted', attention }
    : { kind: 'closed', attention };
}

async function verifyTransfer(
  { transfers, providers }: Deps,
  { nextPollMs, anyway = false, ...ref }: VerifyOptions,
): Promise<CallReport> {
  const transfer = await load(transfers, ref);
  const { tenant, _id: id } = transfer;
  const closed = !isOpen(transfer);
  if (closed && !anyway && !(await isWatched(transfers, transfer))) {
    // Who waits for an operator is alive, too.
    if (transfer.attention) await transfers.countPoll(tenant, id, nextPollMs);
    return { kind: 'closed', attention: transfer.attention?.reason ?? null };
  }
  if (transfer.sends === 0) return { kind: 'unsent', ...sendsOf(transfer) };
  const provider = providers.transfer(transfer.provider);
  const answer = await provider.verify(id, cancellationSignal());
  if (!isFinal(answer)) {
    await transfers.countPoll(tenant, id, nextPollMs);
    // "Pending" teaches nothing, nor does a repeat; what may end in another send belongs on the timeline.
    const { detail, providerRequestId } = { detail: answer.kind, ...answer };
    if (detail === 'not_found' && transfer.timeline.at(-1)?.detail !== detail) {
      await transfers.note(tenant, id, 'poll', provider.name, { detail, providerRequestId });
    }
  }
  // What was given up is never sent again, whatever the bank does not know.
  if (closed && !anyway && answer.kind === 'not_found') return { kind: 'pending' };
  return toReport(answer, 'poll', provider, sendsOf(transfer));
}

async function resolveRecipient(
  { transfers, providers }: Deps,
  ref: TransferRef,
): Promise<ResolveReport> {
  const transfer = await load(transfers, ref);
  const asked = transfer.status === 'pending' && transfer.recipient.name === null;
  if (!asked) return { kind: 'resolved' };
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
    via: operator ? 'operator' : fact.via,
    actor: operator?.actor ?? present.provider,
    providerRequestId: fact.providerRequestId,
    note: operator?.reason ?? null,
  };
  const outcome = await transfers.applyFact(ref.tenant, ref.id, toFact(fact, origin));
  if (outcome.kind !== 'fact') throw ApplicationFailure.nonRetryable('no such transfer');
  const { status, attention, watch_until: watchUntil } = outcome.transfer;
  return { status, attention: attention?.reason ?? null, watched: watchUntil !== null };
}

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
