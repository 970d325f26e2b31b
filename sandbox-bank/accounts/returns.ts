import { answer, errorAnswer, SILENCE, type Outcome } from '../shared/wire.js';
import type { AccountsContext } from './context.js';
import { isFound, type Deposit } from './deposit-state.js';
import type { ReturnRequest } from './records.js';
import { noSuchDeposit } from './wire.js';

/** Creates the operations that send deposits back to their senders. */
export function createReturns({ state: { deposits }, journal }: AccountsContext) {
  const returnOf = (deposit: Deposit, marker: string) =>
    deposit.returns.find(({ order }) => order.marker === marker);

  function find(id: string, marker: string): Outcome {
    const deposit = deposits.withId(id);
    const found = deposit && returnOf(deposit, marker);
    if (!found) return errorAnswer(404, 'return_not_found', 'there is no such return');
    const { amount_minor } = found.order;
    const { currency } = deposit.order;
    return answer(200, { deposit: id, marker, amount_minor, currency, status: found.status });
  }

  function execute(deposit: Deposit, order: ReturnRequest): void {
    const isTaken = deposit.returns.some(({ status }) => status === 'returned');
    const fits = deposit.status === 'received' && !isTaken;
    const about = { deposit: deposit.number, order, at: Date.now() };
    journal.commit([
      fits && deposit.behaviour !== 'return_refused'
        ? { kind: 'deposit_returned', seq: journal.nextSeq(), ...about }
        : { kind: 'deposit_return_refused', ...about },
    ]);
  }

  return {
    find,
    /** Sends a deposit back. The marker of an earlier return gets that one's answer. */
    send(id: string, order: ReturnRequest): Outcome {
      const deposit = deposits.withId(id);
      if (!deposit || !isFound(deposit, Date.now())) return noSuchDeposit();
      if (!returnOf(deposit, order.marker)) execute(deposit, order);
      return deposit.behaviour === 'returned_without_answer' ? SILENCE : find(id, order.marker);
    },
  };
}
