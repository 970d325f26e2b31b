import { isExecutedAtOnce, isOutcomeWithheld } from '../shared/behaviours.js';
import { createRequestHandler, type RequestKind } from '../shared/request-handler.js';
import { answer, errorAnswer, SILENCE, type Outcome } from '../shared/wire.js';
import type { Account } from './account-state.js';
import { accountBehaviour, closesInSilence, OPENED_AFTER_MS } from './behaviours.js';
import type { AccountsContext } from './context.js';
import { createDeposits } from './deposits.js';
import type { AccountRecord, AccountRequest } from './records.js';
import { bankOf, noSuchAccount, presentAccount } from './wire.js';

/** The network's operations on virtual accounts and deposits. */
export type Accounts = ReturnType<typeof createAccounts>;

/** Creates the virtual accounts. They share only the journal, signatures and faults with the bank. */
export function createAccounts(parts: AccountsContext) {
  const { journal, timers, rules, sendsCallbacks } = parts;
  const { accounts } = parts.state;
  const present = (account: Account) =>
    presentAccount(
      account,
      account.status === 'assigned' && isOutcomeWithheld(account, sendsCallbacks),
    );

  function opened(account: number, at: number): AccountRecord {
    const seq = journal.nextSeq();
    return { kind: 'account_opened', account, seq, account_number: numberOf(account), at };
  }

  /** Decides a pending account or closes an open one, and calls back. */
  function settle({ number, status }: Account, outcome: 'opened' | 'failed' | 'closed'): boolean {
    const fits = outcome === 'closed' ? status === 'assigned' : status === 'pending';
    if (!fits) return false;
    const at = Date.now();
    const event = (
      { opened: 'account.opened', failed: 'account.refused', closed: 'account.closed' } as const
    )[outcome];
    const record: AccountRecord =
      outcome === 'opened'
        ? opened(number, at)
        : outcome === 'closed'
          ? { kind: 'account_closed', account: number, seq: journal.nextSeq(), at }
          : { kind: 'account_refused', account: number, code: 'not_eligible', at };
    journal.commitAndNotify(record, { about: { account: number }, event, at });
    return true;
  }

  function scheduleNextOutcome(account: Account): void {
    if (account.status !== 'pending' || account.behaviour !== 'done_later') return;
    timers.after(account.createdAt + OPENED_AFTER_MS - Date.now(), () => settle(account, 'opened'));
  }

  function take(order: AccountRequest, at: number): Account {
    const number = accounts.all.length;
    const behaviour = accountBehaviour(order.client_reference);
    const outcome: AccountRecord[] = [];
    const refused = (code: string) =>
      outcome.push({ kind: 'account_refused', account: number, code, at });
    if (behaviour === 'refused') refused('not_eligible');
    else if (bankOf(order.bank_code) === null) refused('no_such_bank');
    else if (isExecutedAtOnce(behaviour)) outcome.push(opened(number, at));
    journal.commit([{ kind: 'account_ordered', account: number, order, at }, ...outcome]);
    const account = accounts.get(number);
    scheduleNextOutcome(account);
    return account;
  }

  const kind: RequestKind<AccountRequest, Account> = {
    what: 'virtual account',
    find: ({ reference }) => accounts.withReference(reference),
    isSame: ({ order }, repeated) => order.client_reference === repeated.client_reference,
    behaviourOf: ({ client_reference }) => accountBehaviour(client_reference),
    keyOf: ({ reference }) => `assign/${reference}`,
    accept: take,
    present,
  };

  return {
    // An account is not money, so one reference always makes one account, even without de-duplication.
    assign: createRequestHandler(kind, { ...rules, deduplicate: true, deduplicateForMs: null }),
    lookup(reference: string): Outcome {
      const account = accounts.withReference(reference);
      return account ? answer(200, present(account)) : noSuchAccount();
    },
    /** Closes an account by the client's reference. A repeat changes nothing. */
    close(reference: string): Outcome {
      const account = accounts.withReference(reference);
      if (!account) return noSuchAccount();
      if (account.status === 'assigned') {
        const { number } = account;
        const seq = journal.nextSeq();
        journal.commit([{ kind: 'account_closed', account: number, seq, at: Date.now() }]);
      }
      if (closesInSilence(account.order.client_reference)) return SILENCE;
      return account.status === 'closed'
        ? answer(200, present(account))
        : errorAnswer(409, 'account_not_open', `the account is ${account.status}`);
    },
    /** Decides a pending account or closes an open one, for tests; found by reference or customer. */
    setOutcome(name: string, outcome: 'opened' | 'failed' | 'closed'): Outcome {
      const account = accounts.named(name);
      if (!account) return noSuchAccount();
      return settle(account, outcome)
        ? answer(200, presentAccount(account))
        : errorAnswer(409, 'already_settled', `the account is already ${account.status}`);
    },
    deposits: createDeposits(parts, (account) => void settle(account, 'closed')),
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume(): void {
      for (const account of accounts.all) scheduleNextOutcome(account);
      this.deposits.resume();
    },
  };
}

/** The number of an account: ten digits that no other account has. Those of unknown accounts begin with 98. */
const numberOf = (account: number) => `99${String(account).padStart(8, '0')}`;
