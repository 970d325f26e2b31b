import { createClientCalls, isHidden, recipientOf, type ClientCalls } from './client-calls.js';
import { isOutcomeWithheld } from '../shared/behaviours.js';
import { behaviourOf } from './behaviours.js';
import type { TransferOutcomes } from './transfer-outcomes.js';
import { accountName, findBank } from '../shared/directory.js';
import { createRequestHandler, uncovered, type RequestRules } from '../shared/request-handler.js';
import type { Journal } from '../shared/journal.js';
import type { TransferRecord, TransferRequest } from './records.js';
import { feeOf, type Status, type Transfer, type TransferState } from './state.js';
import { transferRequestKind } from './submit.js';
import { answer, errorAnswer, SILENCE, type Outcome } from '../shared/wire.js';

/** The bank's operations on transfers, and name enquiry. */
export type Transfers = ClientCalls & {
  submit(order: TransferRequest): Outcome;
  /** Finds the newest transfer with this reference. */
  lookup(reference: string): Outcome;
  enquire(account: { account: string; bank_code: string }): Outcome;
  /** Decides a pending transfer, for tests; finds it by its own or by the client's reference. */
  setOutcome(reference: string, outcome: 'paid' | 'failed', amountMinor?: number): Outcome;
};

/** Creates the bank's operations. Their outcomes may be sent only after the log has been flushed. */
export function createTransfers(parts: {
  state: TransferState;
  journal: Journal<TransferRecord>;
  outcomes: TransferOutcomes;
  rules: RequestRules;
  sendsCallbacks: boolean;
}): Transfers {
  const { state, journal, outcomes, rules, sendsCallbacks } = parts;
  const presentVisible = (transfer: Transfer) =>
    present(transfer, isOutcomeWithheld(transfer, sendsCallbacks) ? 'pending' : transfer.status);
  const accept = createRequestHandler(
    transferRequestKind({ state, journal, outcomes, present: presentVisible }),
    rules,
  );
  const isKnown = (order: TransferRequest) => state.withReference(order.reference).length > 0;

  return {
    submit(order) {
      const { recipient, reference, amount_minor: amount } = order;
      if (state.isCancelled(reference)) {
        return errorAnswer(409, 'cancelled', 'not executed: the reference was cancelled');
      }
      if (recipient !== undefined && recipient !== recipientOf(order)) {
        return errorAnswer(422, 'unknown_recipient', 'not executed: there is no such recipient');
      }
      if (!isKnown(order) && amount > (state.floatMinor() ?? Infinity)) return uncovered();
      return accept(order);
    },
    ...createClientCalls({ state, journal, rules, present: presentVisible }),
    lookup(reference) {
      if (rules.copy.lacks(reference)) return noSuchTransfer();
      const newest = state.withReference(reference).at(-1);
      return newest && !isHidden(newest) ? answer(200, presentVisible(newest)) : noSuchTransfer();
    },
    enquire({ account, bank_code }) {
      const behaviour = behaviourOf(account);
      if (behaviour === 'enquiry_without_answer') return SILENCE;
      const bank = findBank(bank_code);
      if (!bank || behaviour === 'no_such_account') {
        return errorAnswer(404, 'no_such_account', 'there is no such account');
      }
      return answer(200, {
        account_name: accountName(account, bank),
        bank_name: bank.name,
        bank_code: bank.code,
        nip_code: bank.nip_code,
      });
    },
    setOutcome(reference, outcome, amountMinor) {
      const named = state.withReference(reference);
      const candidates = named.length > 0 ? named : state.withClientReference(reference);
      const pending = candidates.filter((transfer) => transfer.status === 'pending');
      const transfer = pending.at(-1) ?? candidates.at(-1);
      if (!transfer) return noSuchTransfer();
      if (new Set(pending.map(({ order }) => order.reference)).size > 1) {
        return errorAnswer(409, 'ambiguous', 'several transfers have this client reference');
      }
      const wanted = outcome === 'paid' ? 'paid' : 'refused';
      if (transfer.status === 'pending') outcomes.applyOutcome(transfer, wanted, amountMinor);
      else if (transfer.status !== wanted) {
        return errorAnswer(409, 'already_settled', `the transfer is already ${transfer.status}`);
      }
      return answer(200, present(transfer, transfer.status));
    },
  };
}

/** The status on the wire. */
function statusOf({ behaviour }: Transfer, status: Status): string {
  if (status !== 'pending') return status;
  if (behaviour === 'awaits_operator') return 'otp';
  return behaviour === 'unknown_status' ? 'in_review' : status;
}

/** Presents a transfer; never with its account. */
function present(transfer: Transfer, status: Status) {
  const isOpen = status === 'pending';
  return {
    reference: transfer.order.reference,
    client_reference: transfer.order.client_reference,
    status: statusOf(transfer, status),
    amount_minor: isOpen ? transfer.order.amount_minor : transfer.amountMinor,
    currency: transfer.order.currency,
    fee_minor: isOpen ? null : feeOf(transfer),
    session_id: isOpen ? null : transfer.sessionId,
    code: isOpen ? null : transfer.code,
    created_at: new Date(transfer.createdAt).toISOString(),
    updated_at: new Date(isOpen ? transfer.createdAt : transfer.updatedAt).toISOString(),
  };
}

function noSuchTransfer(): Outcome {
  return errorAnswer(404, 'transfer_not_found', 'there is no transfer with this reference');
}
