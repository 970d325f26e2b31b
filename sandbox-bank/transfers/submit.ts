import { isExecutedAtOnce, type Behaviour } from '../shared/behaviours.js';
import { behaviourOf } from './behaviours.js';
import type { TransferOutcomes } from './transfer-outcomes.js';
import { findBank } from '../shared/directory.js';
import type { RequestKind } from '../shared/request-handler.js';
import type { Journal } from '../shared/journal.js';
import type { TransferRecord, TransferRequest } from './records.js';
import type { Transfer, TransferState } from './state.js';

type Parts = {
  state: TransferState;
  journal: Journal<TransferRecord>;
  outcomes: TransferOutcomes;
  present: (transfer: Transfer) => unknown;
};

/** Describes transfers to the request handler. */
export function transferRequestKind({
  state,
  journal,
  outcomes,
  present,
}: Parts): RequestKind<TransferRequest, Transfer> {
  return {
    what: 'transfer',
    find: ({ reference }) => state.withReference(reference).at(-1),
    isSame: ({ order }, repeated) => isSameTransfer(order, repeated),
    behaviourOf: ({ account }) => onSubmission(behaviourOf(account)),
    keyOf: ({ reference }) => reference,
    accept(order, at) {
      const number = state.all.length;
      const refusal = refusalOf(order);
      const outcome: TransferRecord[] = [];
      if (refusal !== null) outcome.push({ kind: 'refused', transfer: number, code: refusal, at });
      else if (isExecutedAtOnce(behaviourOf(order.account)))
        outcome.push(outcomes.paid(number, at, paidAmount(order)));
      journal.commit([{ kind: 'submitted', transfer: number, order, at }, ...outcome]);
      const transfer = state.get(number);
      outcomes.scheduleNextOutcome(transfer);
      return transfer;
    },
    present,
  };
}

function refusalOf(order: TransferRequest): string | null {
  const behaviour = behaviourOf(order.account);
  if (behaviour === 'no_such_account' || !findBank(order.bank_code)) return 'no_such_account';
  if (behaviour === 'refused_then_done') return 'declined';
  return behaviour === 'refused' || behaviour === 'preparation_refused' ? 'account_closed' : null;
}

/** Only the preparation has no first answer. */
const onSubmission = (behaviour: Behaviour): Behaviour =>
  behaviour === 'prepared_without_answer_first' ? 'done' : behaviour;

/** The paid amount, if it is not the ordered one. */
const paidAmount = ({ account, amount_minor: asked }: TransferRequest) =>
  behaviourOf(account) === 'another_amount' ? Math.ceil(asked / 2) : undefined;

function isSameTransfer(a: TransferRequest, b: TransferRequest): boolean {
  return (
    a.amount_minor === b.amount_minor &&
    a.account === b.account &&
    bankKey(a.bank_code) === bankKey(b.bank_code)
  );
}

/** Two codes of one bank are equal; an unknown code equals only itself. */
function bankKey(code: string): string {
  return findBank(code)?.nip_code ?? code;
}
