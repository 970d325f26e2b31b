import { isExecutedAtOnce, isOutcomeWithheld } from '../shared/behaviours.js';
import { createRequestHandler, type RequestKind } from '../shared/request-handler.js';
import { answer, errorAnswer, SILENCE, type Outcome } from '../shared/wire.js';
import {
  createAccountOutcomes,
  type AccountOutcome,
  type AccountOutcomes,
} from './account-outcomes.js';
import type { Account } from './account-state.js';
import { accountBehaviour, closesInSilence } from './behaviours.js';
import type { AccountsContext } from './context.js';
import { createDeposits } from './deposits.js';
import type { AccountRecord, AccountRequest } from './records.js';
import { bankOf, noSuchAccount, presentAccount } from './wire.js';

/** The network's operations on virtual accounts and deposits. */
export type Accounts = ReturnType<typeof createAccounts>;

/** Creates the virtual accounts. They share only the journal, signatures and faults with the bank. */
export function createAccounts(parts: AccountsContext) {
  const { journal, rules, sendsCallbacks } = parts;
  const { accounts } = parts.state;
  const outcomes = createAccountOutcomes(parts);
  const deposits = createDeposits(parts, (account) => void outcomes.settle(account, 'closed'));
  const present = (account: Account) =>
    presentAccount(
      account,
      account.status === 'assigned' && isOutcomeWithheld(account, sendsCallbacks),
    );

  return {
    // An account is not money, so one reference always makes one account, even without de-duplication.
    assign: createRequestHandler(accountRequestKind(parts, outcomes, present), {
      ...rules,
      deduplicate: true,
      deduplicateForMs: null,
    }),
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
    setOutcome(name: string, outcome: AccountOutcome): Outcome {
      const account = accounts.named(name);
      if (!account) return noSuchAccount();
      return outcomes.settle(account, outcome)
        ? answer(200, presentAccount(account))
        : errorAnswer(409, 'already_settled', `the account is already ${account.status}`);
    },
    deposits,
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume(): void {
      outcomes.resume();
      deposits.resume();
    },
  };
}

/** Describes requests for accounts to the request handler. */
function accountRequestKind(
  { state: { accounts }, journal }: AccountsContext,
  outcomes: AccountOutcomes,
  present: (account: Account) => unknown,
): RequestKind<AccountRequest, Account> {
  return {
    what: 'virtual account',
    find: ({ reference }) => accounts.withReference(reference),
    isSame: ({ order }, repeated) => order.client_reference === repeated.client_reference,
    behaviourOf: ({ client_reference }) => accountBehaviour(client_reference),
    keyOf: ({ reference }) => `assign/${reference}`,
    accept(order, at) {
      const number = accounts.all.length;
      const behaviour = accountBehaviour(order.client_reference);
      const outcome: AccountRecord[] = [];
      const refused = (code: string) =>
        outcome.push({ kind: 'account_refused', account: number, code, at });
      if (behaviour === 'refused') refused('not_eligible');
      else if (bankOf(order.bank_code) === null) refused('no_such_bank');
      else if (isExecutedAtOnce(behaviour)) outcome.push(outcomes.opened(number, at));
      journal.commit([{ kind: 'account_ordered', account: number, order, at }, ...outcome]);
      const account = accounts.get(number);
      outcomes.scheduleNextOutcome(account);
      return account;
    },
    present,
  };
}
