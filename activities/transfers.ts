import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Log } from '../src/log.js';
import type {
  InitiateAnswer,
  PaymentState,
  TransferProvider,
  VerifyAnswer,
} from '../src/providers/provider.js';
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

/** One effect each: ask or tell the provider, or write to our store. Decisions are the workflow's. */
export function createTransferActivities({ transfers, providers, log }: TransferActivityDeps) {
  async function load({ tenant, id }: TransferRef): Promise<Transfer> {
    const transfer = await transfers.get(tenant, id);
    if (!transfer) throw ApplicationFailure.nonRetryable('no such transfer', 'NoSuchTransfer');
    return transfer;
  }

  /** Support reads this; a failure to write it must not turn an answer into silence. */
  async function noteAnswer(
    ref: TransferRef,
    type: TimelineType,
    answer: InitiateAnswer | VerifyAnswer,
    provider: string,
  ) {
    const extra = {
      detail: 'reason' in answer ? `${answer.kind}: ${answer.reason}` : answer.kind,
      providerRequestId: answer.providerRequestId,
    };
    await transfers
      .note(ref.tenant, ref.id, type, provider, extra)
      .catch((error: unknown) =>
        log.warn({ err: error, transfer: ref.id }, 'timeline not written'),
      );
  }

  return {
    /** Takes the permission to send that `sends` names and uses it, at once and at most once. */
    async submitTransfer(ref: TransferRef & { sends: number }): Promise<CallReport> {
      // Before the permission: the order's own time must not be younger than the decision to send it.
      const requestedAt = new Date();
      const transfer = await transfers.permitSend(ref.tenant, ref.id, ref.sends, 'bursar');
      if (!transfer) {
        const present = await load(ref);
        if (!isOpen(present)) return { kind: 'closed' };
        if (present.sends === 0) return { kind: 'unsent', sends: 0 };
        return { kind: 'not_permitted', attention: present.attention?.reason ?? null };
      }
      const provider = providers.transfer(transfer.provider);
      const { account, bank_code: bankCode, name } = transfer.recipient;
      const answer = await provider.initiate(
        {
          reference: transfer._id,
          clientReference: transfer.reference,
          amountMinor: transfer.amount_minor,
          currency: transfer.currency,
          recipient: { account, bankCode, name },
          narration: transfer.narration,
          requestedAt,
        },
        cancellationSignal(),
      );
      if (!isFinal(answer)) await noteAnswer(ref, 'provider_answer', answer, provider.name);
      return toReport(answer, transfer.sends);
    },

    /** Asks the provider what became of the order, by our reference. Sends nothing. */
    async verifyTransfer(ref: TransferRef & { nextPollMs: number }): Promise<CallReport> {
      const transfer = await load(ref);
      if (!isOpen(transfer)) return { kind: 'closed' };
      if (transfer.sends === 0) return { kind: 'unsent', sends: 0 };
      const provider = providers.transfer(transfer.provider);
      const answer = await provider.verify(transfer._id, cancellationSignal());
      if (!isFinal(answer)) {
        await transfers.countPoll(ref.tenant, ref.id, ref.nextPollMs);
        // "Pending" again teaches nothing; what may end in another send belongs on the timeline.
        if (answer.kind === 'not_found') await noteAnswer(ref, 'poll', answer, provider.name);
      }
      return toReport(answer, transfer.sends);
    },

    /** Name enquiry for a transfer that was accepted while the bank did not answer it. */
    async resolveRecipient(ref: TransferRef): Promise<ResolveReport> {
      const transfer = await load(ref);
      if (transfer.recipient.name !== null) return { kind: 'resolved' };
      const { account, bank_code: bankCode } = transfer.recipient;
      const provider = providers.transfer(transfer.provider);
      const answer = await provider.resolveAccount({ account, bankCode }, cancellationSignal());
      if (answer.kind === 'not_found') return { kind: 'no_such_account' };
      if (answer.kind === 'no_answer') return { kind: 'no_answer' };
      await transfers.nameRecipient(ref.tenant, ref.id, {
        name: answer.name,
        bank: answer.bankName,
      });
      return { kind: 'resolved' };
    },

    /** Books what the provider said, through the state guard. Repeatable without limit. */
    async settleTransfer(ref: TransferRef & { fact: FactReport }): Promise<SettleReport> {
      const present = await load(ref);
      const origin: FactOrigin = {
        via: present.polls > 0 ? 'poll' : 'provider_answer',
        actor: present.provider,
        providerRequestId: ref.fact.providerRequestId,
        note: null,
      };
      const outcome = await transfers.applyFact(ref.tenant, ref.id, toFact(ref.fact, origin));
      return { open: outcome.kind === 'fact' && isOpen(outcome.transfer) };
    },

    async raiseAttention(ref: TransferRef & { reason: string }): Promise<void> {
      await transfers.raiseAttention(ref.tenant, ref.id, ref.reason);
    },

    async noteCancellation(ref: TransferRef): Promise<void> {
      const detail =
        'a cancellation was asked for in Temporal and not followed: money may be on its way';
      await transfers.note(ref.tenant, ref.id, 'note', 'temporal', { detail });
    },
  };
}

const isFinal = (answer: InitiateAnswer | VerifyAnswer): answer is FinalAnswer =>
  answer.kind === 'paid' || answer.kind === 'refused' || answer.kind === 'reversed';

type FinalAnswer = Exclude<PaymentState, { kind: 'pending' }> & {
  providerRequestId: string | null;
};

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

function toFact(report: FactReport, origin: FactOrigin): TransferFact {
  if (report.kind === 'refused') return { ...origin, kind: 'refused', code: report.code };
  const amountMinor = report.amountMinor === null ? null : BigInt(report.amountMinor);
  return { ...origin, kind: report.kind, amountMinor, sessionId: report.sessionId };
}
