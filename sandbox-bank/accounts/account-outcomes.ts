import type { Account } from './account-state.js';
import { OPENED_AFTER_MS } from './behaviours.js';
import type { AccountsContext } from './context.js';
import type { AccountRecord } from './records.js';

/** Outcomes of accounts that callbacks report. */
export type AccountOutcome = 'opened' | 'failed' | 'closed';

const EVENTS = {
  opened: 'account.opened',
  failed: 'account.refused',
  closed: 'account.closed',
} as const;

/** Decides accounts and reports their outcomes. */
export type AccountOutcomes = ReturnType<typeof createAccountOutcomes>;

/** Creates the part that decides accounts, now or after the time that their behaviour says. */
export function createAccountOutcomes({ state, journal, timers }: AccountsContext) {
  /** Makes the record of an opened account; commit it in the same turn, because it takes the next effect number. */
  function opened(account: number, at: number): AccountRecord {
    const seq = journal.nextSeq();
    return { kind: 'account_opened', account, seq, account_number: numberOf(account), at };
  }

  function recordOf(account: number, outcome: AccountOutcome, at: number): AccountRecord {
    if (outcome === 'opened') return opened(account, at);
    return outcome === 'closed'
      ? { kind: 'account_closed', account, seq: journal.nextSeq(), at }
      : { kind: 'account_refused', account, code: 'not_eligible', at };
  }

  /** Decides a pending account or closes an open one, and calls back. False if its status does not allow it. */
  function settle({ number, status }: Account, outcome: AccountOutcome): boolean {
    if (status !== (outcome === 'closed' ? 'assigned' : 'pending')) return false;
    const at = Date.now();
    const about = { account: number };
    journal.commitAndNotify(recordOf(number, outcome, at), { about, event: EVENTS[outcome], at });
    return true;
  }

  /** Times count from the journal, so a restart neither loses nor prolongs them. */
  function scheduleNextOutcome(account: Account): void {
    if (account.status !== 'pending' || account.behaviour !== 'done_later') return;
    timers.after(account.createdAt + OPENED_AFTER_MS - Date.now(), () => settle(account, 'opened'));
  }

  return {
    opened,
    settle,
    scheduleNextOutcome,
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume(): void {
      for (const account of state.accounts.all) scheduleNextOutcome(account);
    },
  };
}

/** The number of an account: ten digits that no other account has. Those of unknown accounts begin with 98. */
const numberOf = (account: number) => `99${String(account).padStart(8, '0')}`;
