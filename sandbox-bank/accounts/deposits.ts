import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { sessionId } from '../transfers/session-id.js';
import { answer, type Outcome } from '../shared/wire.js';
import type { Account } from './account-state.js';
import { depositBehaviour, REVERSED_AFTER_MS } from './behaviours.js';
import type { AccountsContext } from './context.js';
import { isFound, isListed, type Deposit } from './deposit-state.js';
import { createReturns } from './returns.js';
import {
  noSuchAccount,
  noSuchDeposit,
  presentDeposit,
  type depositBody,
  type depositsQuery,
} from './wire.js';

/** Pause between the closing of an account and the deposit that follows it. */
const AFTER_CLOSING_MS = 500;

type DepositBody = z.output<typeof depositBody>;

/** Creates the operations of deposits. `closeAccount` closes one in the network's own name. */
export function createDeposits(parts: AccountsContext, closeAccount: (account: Account) => void) {
  const { accounts, deposits } = parts.state;
  const reports = createReports(parts);
  return {
    returns: createReturns(parts),
    /** Money arrives on an account, for tests. A repeated session is the same deposit, told again. */
    receive(accountNumber: string, order: DepositBody): Outcome {
      const account = accounts.withNumber(accountNumber);
      if (!account) return noSuchAccount();
      const behaviour = depositBehaviour(order.sender_name);
      if (behaviour === 'after_closing') closeAccount(account);
      const known = deposits.withSession(order.session_id ?? '');
      const deposit = known ?? store(parts, accountNumber, order);
      const isSilent = behaviour === 'by_requery_only' || behaviour === 'by_list_only';
      const afterMs = behaviour === 'after_closing' ? AFTER_CLOSING_MS : 0;
      if (order.tell === 'callback' && !isSilent) {
        reports.tell(deposit, { times: order.times, afterMs });
      }
      if (!known) reports.scheduleReversal(deposit);
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

    /** Tells the deposits of an account that nobody was told of. */
    requery(accountNumber: string): Outcome {
      if (!accounts.withNumber(accountNumber)) return noSuchAccount();
      for (const deposit of deposits.all) {
        const isWanted = deposit.accountNumber === accountNumber && deposit.status === 'received';
        if (isWanted && !deposit.isReported) reports.tell(deposit);
      }
      return answer(200, { requested: true });
    },

    /** Takes a deposit back, for tests. */
    setReversed(id: string): Outcome {
      const deposit = deposits.withId(id);
      if (!deposit) return noSuchDeposit();
      reports.reverse(deposit);
      return answer(200, presentDeposit(deposit));
    },

    resume(): void {
      for (const deposit of deposits.all) reports.scheduleReversal(deposit);
    },
  };
}

/** Records a new deposit. That of the sender 009 goes to an account of which no client knows. */
function store(
  { state: { deposits }, journal }: AccountsContext,
  accountNumber: string,
  { amount_minor, currency, sender_name, session_id }: DepositBody,
): Deposit {
  const at = Date.now();
  const number = deposits.all.length;
  const behaviour = depositBehaviour(sender_name);
  const session = session_id ?? sessionId(at, number + 1);
  journal.commit([
    {
      kind: 'deposit_received',
      deposit: number,
      id: `dpt_${randomBytes(10).toString('hex')}`,
      account_number:
        behaviour === 'to_unknown_account' ? `98${accountNumber.slice(2)}` : accountNumber,
      order: { amount_minor, currency, sender_name, session_id: session },
      seq: behaviour === 'event_only' ? null : journal.nextSeq(),
      at,
    },
  ]);
  return deposits.get(number);
}

/** Creates the part that tells the client of deposits and of their reversal. */
function createReports({ journal, timers }: AccountsContext) {
  function tell({ number }: Deposit, { times = 1, afterMs = 0 } = {}): void {
    const at = Date.now() + afterMs;
    journal.commitAndNotify(
      { kind: 'deposit_reported', deposit: number, at },
      { about: { deposit: number }, event: 'deposit.received', at, times },
    );
  }

  function reverse({ number, status, returns }: Deposit): void {
    if (status !== 'received' || returns.some((each) => each.status === 'returned')) return;
    const at = Date.now();
    journal.commitAndNotify(
      { kind: 'deposit_reversed', deposit: number, seq: journal.nextSeq(), at },
      { about: { deposit: number }, event: 'deposit.reversed', at },
    );
  }

  /** Times count from the journal, so a restart neither loses nor prolongs them. */
  function scheduleReversal(deposit: Deposit): void {
    if (deposit.behaviour !== 'reversed_later' || deposit.status !== 'received') return;
    const dueInMs = deposit.receivedAt + REVERSED_AFTER_MS - Date.now();
    timers.after(dueInMs, () => reverse(deposit));
  }

  return { tell, reverse, scheduleReversal };
}
