import type {
  AccountProvider,
  VerifyDepositAnswer,
} from '../../core/providers/account-provider.js';
import type { Trace } from '../../core/providers/port.js';
import {
  addDifference,
  NOTHING_TO_APPLY,
  reconciledBy,
  verdictOf,
  type ComparedRecords,
  type Described,
  type Reconciled,
  type ReconcileRun,
} from '../../core/reconciliation/comparison.js';
import { recordsSince } from '../../core/reconciliation/pages.js';
import { reconciliationSource } from '../../core/reconciliation/payment-answers.js';
import type { Database } from '../../platform/database/client.js';
import { isUnbooked, UNOWNED, type Deposit } from './deposit.js';
import { recordMissed } from './reconciliation.js';
import type { DepositCalls } from './provider-calls.js';
import type { Deposits } from './store.js';

/** The provider's word on a deposit, or on its return. */
type Answer = Trace & (VerifyDepositAnswer | { kind: 'returned' });

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
  const known = reconciledBy(compared(deps), ({ since, tenants }) =>
    recordsSince(collection, { since, tenants: [...tenants, UNOWNED] }),
  );
  return {
    kind: known.kind,
    async reconcile(run, scope) {
      await known.reconcile(run, scope);
      for (const provider of deps.providers.accountProviders) {
        await findMissed(deps, provider, run, scope.since);
      }
    },
  };
}

const compared = ({
  deposits: { store, starter },
  providers,
}: Deps): ComparedRecords<Deposit, Answer> => ({
  kind: 'deposits',
  get: store.get,
  async ask(deposit, signal) {
    const provider = providers.accountProvider(deposit.provider);
    const answer = await provider.verifyDeposit(deposit.reference, signal);
    return answer.kind === 'received' && deposit.state === 'returned'
      ? ((await findReturn(provider, deposit, signal)) ?? answer)
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
    } else return null;
    starter.notifyChangedSoon(deposit);
    return verdictOf(deposit, await store.get(deposit.tenant_id, deposit._id));
  },
});

/** The return of a deposit, if the provider has made it. A provider may show the deposit as received all the same. */
async function findReturn(
  provider: AccountProvider,
  { _id: marker, reference: id, first_submitted_at: at, instructed_at: ordered }: Deposit,
  signal: AbortSignal,
): Promise<Answer | null> {
  const answer = await provider.verifyReturn?.({ id, marker, since: at ?? ordered }, signal);
  if (!answer) return null;
  if (answer.kind === 'succeeded') {
    return { kind: 'returned', providerRequestId: answer.providerRequestId };
  }
  return answer.kind === 'unknown' ? answer : null;
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
  const told = answer.kind === 'received' ? answer.deposit.amountMinor : null;
  const isOther = told !== null && amount !== null && told !== amount;
  const difference = `${state} with us, ${WORDS[answer.kind]} at the bank`;
  return {
    amountMinor: amount ?? told ?? 0n,
    ours: state,
    difference: isOther ? `${difference}, of another amount` : difference,
  };
}

/** The difference of a deposit that the provider has received, and of which no message has come. */
async function findMissed(
  { deposits }: Deps,
  provider: AccountProvider,
  run: ReconcileRun,
  since: Date,
): Promise<void> {
  const to = new Date();
  let cursor: string | null = null;
  do {
    await run.takeTurn();
    const window = { from: since, to, cursor };
    const page = await provider.listDeposits(window, new AbortController().signal);
    if (page.kind !== 'page') {
      run.report.unanswered += 1;
      return;
    }
    for (const item of page.items) {
      if (await deposits.store.ofProvider(provider.name, item.id)) continue;
      const applied = run.apply && (await recordMissed({ deposits }, provider.name, item));
      addDifference(run.report, {
        kind: 'deposits',
        id: item.id,
        tenantId: UNOWNED,
        provider: provider.name,
        amountMinor: item.amountMinor,
        ours: 'unknown',
        bank: 'received',
        difference: 'unknown with us, received at the bank',
        outcome: run.apply ? (applied ? 'applied' : NOTHING_TO_APPLY) : null,
      });
    }
    cursor = page.next;
  } while (cursor !== null);
}
