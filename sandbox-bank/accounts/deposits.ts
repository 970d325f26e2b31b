import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { sessionId } from '../transfers/session-id.js';
import { answer, errorAnswer, SILENCE, type Outcome } from '../shared/wire.js';
import type { Account } from './account-state.js';
import { depositBehaviour, REVERSED_AFTER_MS } from './behaviours.js';
import type { AccountsContext } from './context.js';
import { isFound, isListed, type Deposit } from './deposit-state.js';
import type { ReturnRequest } from './records.js';
import {
  noSuchAccount,
  noSuchDeposit,
  presentDeposit,
  type depositBody,
  type depositsQuery,
} from './wire.js';

/** Pause between the closing of an account and the deposit that follows it. */
const AFTER_CLOSING_MS = 500;

/** Creates the operations of deposits. `closeAccount` closes one in the network's own name. */
export function createDeposits(parts: AccountsContext, closeAccount: (account: Account) => void) {
  const { journal, timers } = parts;
  const { accounts, deposits } = parts.state;

  function tell(deposit: Deposit, { times = 1, afterMs = 0 } = {}): void {
    const about = { deposit: deposit.number };
    const at = Date.now() + afterMs;
    const record = { kind: 'deposit_reported', deposit: deposit.number, at } as const;
    journal.commitAndNotify(record, { about, event: 'deposit.received', at, times });
  }

  function reverse({ number, status, returns }: Deposit): void {
    if (status !== 'received' || returns.some((each) => each.status === 'returned')) return;
    const at = Date.now();
    const record = {
      kind: 'deposit_reversed',
      deposit: number,
      seq: journal.nextSeq(),
      at,
    } as const;
    journal.commitAndNotify(record, { about: { deposit: number }, event: 'deposit.reversed', at });
  }

  /** Times count from the journal, so a restart neither loses nor prolongs them. */
  function scheduleReversal(deposit: Deposit): void {
    if (deposit.behaviour !== 'reversed_later' || deposit.status !== 'received') return;
    const dueInMs = deposit.receivedAt + REVERSED_AFTER_MS - Date.now();
    timers.after(dueInMs, () => reverse(deposit));
  }

  function returned(deposit: Deposit, marker: string) {
    return deposit.returns.find(({ order }) => order.marker === marker);
  }

  return {
    /** Money arrives on an account, for tests. A repeated session is the same deposit, told again. */
    receive(accountNumber: string, order: z.output<typeof depositBody>): Outcome {
      const account = accounts.withNumber(accountNumber);
      if (!account) return noSuchAccount();
      const { amount_minor, currency, sender_name, times, tell: told } = order;
      const at = Date.now();
      const session_id = order.session_id ?? sessionId(at, journal.nextSeq());
      const known = deposits.withSession(session_id);
      const behaviour = depositBehaviour(sender_name);
      if (behaviour === 'after_closing') closeAccount(account);
      const number = known?.number ?? deposits.all.length;
      if (!known) {
        journal.commit([
          {
            kind: 'deposit_received',
            deposit: number,
            id: `dpt_${randomBytes(10).toString('hex')}`,
            account_number:
              behaviour === 'to_unknown_account' ? `98${accountNumber.slice(2)}` : accountNumber,
            order: { amount_minor, currency, sender_name, session_id },
            seq: behaviour === 'event_only' ? null : journal.nextSeq(),
            at,
          },
        ]);
      }
      const deposit = deposits.get(number);
      const isSilent = behaviour === 'by_requery_only' || behaviour === 'by_list_only';
      const afterMs = behaviour === 'after_closing' ? AFTER_CLOSING_MS : 0;
      if (told === 'callback' && !isSilent) tell(deposit, { times, afterMs });
      if (!known) scheduleReversal(deposit);
      return answer(known ? 200 : 201, presentDeposit(deposit));
    },

    show(id: string): Outcome {
      const deposit = deposits.withId(id);
      return deposit && isFound(deposit, Date.now())
        ? answer(200, presentDeposit(deposit))
        : noSuchDeposit();
    },

    /** The received deposits of a time, oldest first. */
    list({ from, to, account_number, cursor, limit }: z.output<typeof depositsQuery>): Outcome {
      const now = Date.now();
      const found = deposits.all.filter(
        (deposit) =>
          deposit.number >= cursor &&
          deposit.receivedAt >= Date.parse(from) &&
          deposit.receivedAt < Date.parse(to) &&
          (account_number === undefined || deposit.accountNumber === account_number) &&
          isListed(deposit, now),
      );
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const next = last && found.length > limit ? last.number + 1 : null;
      return answer(200, { deposits: page.map((each) => presentDeposit(each)), next });
    },

    /** Tells the deposits of an account again that nobody was told of. */
    requery(accountNumber: string): Outcome {
      if (!accounts.withNumber(accountNumber)) return noSuchAccount();
      for (const deposit of deposits.all) {
        const isWanted = deposit.accountNumber === accountNumber && deposit.status === 'received';
        if (isWanted && !deposit.isReported) tell(deposit);
      }
      return answer(200, { requested: true });
    },

    /** Sends a deposit back. The marker of an earlier return gets that one's answer. */
    sendBack(id: string, order: ReturnRequest): Outcome {
      const deposit = deposits.withId(id);
      if (!deposit || !isFound(deposit, Date.now())) return noSuchDeposit();
      if (!returned(deposit, order.marker)) {
        const at = Date.now();
        const isTaken = deposit.returns.some(({ status }) => status === 'returned');
        const fits = deposit.status === 'received' && !isTaken;
        const refused = !fits || deposit.behaviour === 'return_refused';
        const about = { deposit: deposit.number, order, at };
        journal.commit([
          refused
            ? { kind: 'deposit_return_refused', ...about }
            : { kind: 'deposit_returned', seq: journal.nextSeq(), ...about },
        ]);
      }
      return deposit.behaviour === 'returned_without_answer'
        ? SILENCE
        : this.findReturn(id, order.marker);
    },

    findReturn(id: string, marker: string): Outcome {
      const deposit = deposits.withId(id);
      const found = deposit && returned(deposit, marker);
      if (!found) return errorAnswer(404, 'return_not_found', 'there is no such return');
      const { order, status } = found;
      const { currency } = deposit.order;
      return answer(200, { deposit: id, ...order, requested_at: undefined, currency, status });
    },

    /** Takes a deposit back, for tests. */
    setReversed(id: string): Outcome {
      const deposit = deposits.withId(id);
      if (!deposit) return noSuchDeposit();
      reverse(deposit);
      return answer(200, presentDeposit(deposit));
    },

    resume(): void {
      for (const deposit of deposits.all) scheduleReversal(deposit);
    },
  };
}
