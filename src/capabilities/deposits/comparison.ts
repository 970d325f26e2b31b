import type {
  AccountProvider,
  VerifyDepositAnswer,
} from '../../core/providers/account-provider.js';
import type { Trace } from '../../core/providers/port.js';
import {
  addDifference,
  reconciledBy,
  signalOf,
  verdictOf,
  type ComparedRecords,
  type Described,
  type Reconciled,
  type ReconcileRun,
} from '../../core/reconciliation/comparison.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { recordsSince } from '../../core/reconciliation/pages.js';
import { kindOf, reconciliationSource } from '../../core/reconciliation/payment-answers.js';
import { accountRateLimitKey } from '../../platform/temporal/queues.js';
import type { Database } from '../../platform/database/client.js';
import { isUnbooked, submittedReturn, UNOWNED, type Deposit } from './record.js';
import { findMissed } from './reconciliation.js';
import { findReturn, type DepositCalls } from './provider-calls.js';
import type { Deposits } from './store.js';

/** The provider's word on a deposit, or on its return. */
type Answer = Trace & (VerifyDepositAnswer | { kind: 'returned'; amountMinor: bigint | null });

type Deps = {
  deposits: {
    store: Deposits;
    providerCalls: Pick<DepositCalls, 'report'>;
    starter: { notifyChangedSoon(deposit: Deposit): void };
  };
  database: Database;
  providers: {
    accountProvider(name: string): AccountProvider;
    accountProviders: readonly AccountProvider[];
  };
};

/** Deposits, as they are compared with their providers, and those that a provider has and no message has reported. */
export function reconciledDeposits(deps: Deps): Reconciled {
  const collection = deps.database.db.collection<Deposit>('deposits');
  const known = reconciledBy(compared(deps), ({ tenants, ...scope }, from) =>
    recordsSince(collection, { ...scope, tenants: [...tenants, UNOWNED] }, from),
  );
  return {
    ...known,
    async reconcile(run, scope) {
      await known.reconcile(run, scope);
      for (const provider of deps.providers.accountProviders) {
        await searchList(deps, provider, run, scope.since);
      }
    },
  };
}

const compared = ({
  deposits: { store, starter },
  providers,
}: Deps): ComparedRecords<Deposit, Answer> => ({
  kind: 'deposits',
  rateLimitKey: accountRateLimitKey,
  get: store.get,
  async ask(deposit, signal) {
    const provider = providers.accountProvider(deposit.provider);
    const answer = await provider.verifyDeposit(deposit.reference, signal);
    return mayHideReturn(deposit, answer)
      ? ((await askReturn(provider, deposit, answer, signal)) ?? answer)
      : answer;
  },
  agrees: depositAgrees,
  describe: describeDeposit,
  async apply(deposit, answer) {
    const source = reconciliationSource(deposit.provider, answer.providerRequestId);
    const about = { ...source, instruction: 'confirm' } as const;
    if (answer.kind === 'received') {
      const { id: _, ...told } = answer.deposit;
      await store.applyFact(deposit, { ...about, kind: 'confirmed', deposit: told });
    } else if (answer.kind === 'reversed') {
      const reversed = { kind: 'reversed', amountMinor: null, sessionId: null } as const;
      await store.applyFact(deposit, { ...about, ...reversed });
    } else if (answer.kind === 'returned') {
      const { amountMinor } = answer;
      const returned = { kind: 'succeeded', amountMinor, sessionId: null } as const;
      await store.applyFact(deposit, { ...source, instruction: 'return', ...returned });
    } else return null;
    const changed = await store.get(deposit.tenant_id, deposit._id);
    starter.notifyChangedSoon(changed ?? deposit);
    return verdictOf(deposit, changed);
  },
});

/**
 * True if the provider's return of a deposit may be behind this answer. A provider that has returned a deposit may show it as
 * received or as reversed. One that is credited is debited if it is shown as reversed, whoever has sent the money back.
 */
const mayHideReturn = (deposit: Deposit, { kind }: VerifyDepositAnswer): boolean => {
  const { state } = deposit;
  if (state !== 'returned' && submittedReturn(deposit) === null) return false;
  return (
    kind === 'received' || (kind === 'reversed' && (state === 'suspended' || state === 'returned'))
  );
};

/**
 * The return of a deposit, if the provider has made it; or that the provider does not say yet. One that shows the deposit as
 * reversed may do so for a return that is still pending, which its workflow ends.
 */
async function askReturn(
  provider: AccountProvider,
  deposit: Deposit,
  shown: VerifyDepositAnswer,
  signal: AbortSignal,
): Promise<Answer | null> {
  const answer = await findReturn(provider, deposit, signal);
  if (answer?.kind === 'succeeded') {
    const { amountMinor, providerRequestId } = answer;
    return { kind: 'returned', amountMinor, providerRequestId };
  }
  if (answer?.kind === 'pending' && shown.kind === 'reversed') {
    const { providerRequestId } = answer;
    return { kind: 'unknown', reason: 'conflict', providerRequestId };
  }
  return answer?.kind === 'unknown' ? answer : null;
}

/** True if the provider's answer allows the state of a deposit. One that was moved is compared under its new tenant. */
export function depositAgrees(deposit: Deposit, answer: Answer): boolean {
  const { state, amount_minor: amountMinor, moved_to: movedTo } = deposit;
  if (movedTo) return true;
  switch (state) {
    case 'received':
      return answer.kind === 'not_found';
    case 'credited':
    case 'suspended':
      // The workflow of a return that is under way books it.
      if (answer.kind === 'returned') return deposit.instruction === 'return' && isOpen(deposit);
      return answer.kind === 'received' && answer.deposit.amountMinor === amountMinor;
    case 'returned':
      return answer.kind === 'returned';
    case 'reversed':
      return answer.kind === 'reversed' || (isUnbooked(deposit) && answer.kind === 'not_found');
  }
}

const WORDS: Record<Answer['kind'], string> = {
  received: 'received',
  reversed: 'reversed',
  returned: 'returned',
  not_found: 'unknown',
  unknown: 'silent',
};

function describeDeposit({ state, amount_minor: amount }: Deposit, answer: Answer): Described {
  const told =
    answer.kind === 'received'
      ? answer.deposit.amountMinor
      : answer.kind === 'returned'
        ? answer.amountMinor
        : null;
  const isOther = told !== null && amount !== null && told !== amount;
  const difference = `${state} with us, ${WORDS[answer.kind]} at the bank`;
  return {
    breakKind: kindOf(answer, isOther),
    amountMinor: amount ?? told ?? 0n,
    ours: state,
    difference: isOther ? `${difference}, of another amount` : difference,
  };
}

/** Reads the list of a provider for deposits that no message has reported. */
async function searchList(
  deps: Deps,
  provider: AccountProvider,
  run: ReconcileRun,
  since: Date,
): Promise<void> {
  const to = new Date();
  let cursor: string | null = null;
  do {
    await run.takeTurn();
    const window = { from: since, to, cursor };
    const page = await provider.listDeposits(window, signalOf(run));
    if (page.kind !== 'page') {
      run.report.unanswered += 1;
      return;
    }
    for (const difference of await findMissed(deps, provider.name, page.items, run)) {
      addDifference(run.report, difference);
    }
    cursor = page.next;
  } while (cursor !== null);
}
