import { setTimeout as sleep } from 'node:timers/promises';
import type {
  AccountProvider,
  ProviderDeposit,
  RequeryAnswer,
} from '../../core/providers/account-provider.js';
import type { UnknownReason } from '../../core/providers/port.js';
import type { Breaks } from '../../core/reconciliation/breaks.js';
import {
  noteBreaks,
  notAppliedAfter,
  type Difference,
  type ReconcileRun,
} from '../../core/reconciliation/comparison.js';
import type { VirtualAccounts } from '../virtual-accounts/index.js';
import type { DepositCalls } from './provider-calls.js';
import type { Deposits } from './store.js';
import type {
  DepositReconciliationInput,
  DepositReconciliationPage,
  DepositReconciliationPosition,
} from './workflow-contract.js';
import { pageLimit } from '../../core/reconciliation/pages.js';
import { DAY_MS } from '../../shared/durations.js';
import type { Log } from '../../shared/log.js';
import { UNOWNED } from './record.js';

type Deps = {
  deposits: { store: Pick<Deposits, 'ofProvider'>; providerCalls: Pick<DepositCalls, 'report'> };
  virtualAccounts: {
    store: Pick<
      VirtualAccounts,
      'takeForRequery' | 'noteRequeried' | 'noteUnanswered' | 'putBackForRequery'
    >;
  };
  providers: { findAccountProvider(name: string): AccountProvider | undefined };
  breaks: Pick<Breaks, 'note'>;
  log?: Log;
};

/** Longest time that the calls of one page take by their rate. */
const PAGE_SECONDS = 10;
/** Accounts that one page asks about. */
const MAX_REQUERIES = 200;
/** Requeries in a row without an answer after which the provider is taken to be away. */
const MAX_SILENT = 3;
/** A page ends after this time, well within the time of its activity. */
const PAGE_AT_MOST_MS = 5 * 60_000;

/**
 * One page of the search for deposits that no message has reported: a page of the provider's list, or afterwards some of the
 * accounts whose deposits the provider is made to report again. A repeated page records nothing twice.
 */
export async function reconcileDepositPage(
  deps: Deps,
  input: DepositReconciliationInput & { position: DepositReconciliationPosition | null },
): Promise<DepositReconciliationPage> {
  const provider = deps.providers.findAccountProvider(input.provider);
  const now = Date.now();
  const first = {
    step: 'list',
    fromMs: now - input.days * DAY_MS,
    toMs: now,
    cursor: null,
  } as const;
  const position = input.position ?? first;
  if (!provider) return { found: 0, asked: 0, unanswered: false, next: null };
  return position.step === 'list'
    ? listPage(deps, provider, position)
    : requeryPage(deps, provider, input.perSecond);
}

async function listPage(
  deps: Deps,
  provider: AccountProvider,
  position: Extract<DepositReconciliationPosition, { step: 'list' }>,
): Promise<DepositReconciliationPage> {
  const { fromMs, toMs, cursor } = position;
  const window = { from: new Date(fromMs), to: new Date(toMs), cursor };
  // The adapter sets the timeout of the call.
  const answer = await provider.listDeposits(window, new AbortController().signal);
  if (answer.kind !== 'page') return { found: 0, asked: 1, unanswered: true, next: position };
  const missed = await findMissed(deps, provider.name, answer.items, { ...deps, apply: true });
  const found = missed.filter(({ outcome }) => outcome === 'applied').length;
  const next =
    answer.next === null ? ({ step: 'requery' } as const) : { ...position, cursor: answer.next };
  return { found, asked: 1, unanswered: false, next };
}

/**
 * The deposits of a page of the provider's list that no message has reported. They are recorded if the run applies what it finds;
 * one that cannot be recorded stays a break, and the others of the page are recorded all the same.
 */
export async function findMissed(
  { deposits }: Pick<Deps, 'deposits'>,
  provider: string,
  items: readonly ProviderDeposit[],
  run: Pick<ReconcileRun, 'apply' | 'breaks' | 'signal' | 'log'>,
): Promise<Difference[]> {
  const missed: Difference[] = [];
  for (const item of items) {
    if (await deposits.store.ofProvider(provider, item.id)) continue;
    const recorded = async () => {
      await deposits.providerCalls.report(provider, reportOf(item));
      return 'applied' as const;
    };
    const resource = { id: item.id, tenantId: UNOWNED };
    missed.push({
      kind: 'deposits',
      breakKind: 'missing_here',
      id: item.id,
      tenantId: UNOWNED,
      provider,
      amountMinor: item.amountMinor,
      ours: 'unknown',
      bank: 'received',
      difference: 'unknown with us, received at the bank',
      outcome: run.apply ? await recorded().catch(notAppliedAfter(run, resource)) : null,
    });
  }
  const listed = items.map(({ id }) => id);
  await noteBreaks(run.breaks, provider, listed, missed);
  return missed;
}

const reportOf = ({ id, accountNumber, amountMinor, receivedAt }: ProviderDeposit) => ({
  id,
  accountNumber,
  amountMinor,
  receivedAt,
  via: 'poll' as const,
  detail: 'found in the provider’s list: no message has reported it',
});

/**
 * Each account is asked about at most once in the provider's pause, at a share of its rate. An account about which the provider
 * gives no usable answer waits for its pause, so that it never keeps the others waiting. If the provider is silent several times in
 * a row, or wants no requests now, the search ends: the next run of the Schedule lists again, and asks about the rest first.
 */
async function requeryPage(
  { virtualAccounts: { store } }: Deps,
  provider: AccountProvider,
  perSecond: number,
): Promise<DepositReconciliationPage> {
  const { requeryEveryMs } = provider.accounts;
  const requery = provider.requery?.bind(provider);
  const done = { found: 0, asked: 0, unanswered: false, next: null };
  if (!requery || requeryEveryMs === null) return done;
  const limit = pageLimit(perSecond * PAGE_SECONDS, MAX_REQUERIES);
  const taken = await store.takeForRequery(provider.name, requeryEveryMs, limit);
  const began = performance.now();
  let silent = 0;
  for (const [index, account] of taken.entries()) {
    const { accountNumber, handle, day } = account;
    const effect = effectOf(
      await requery({ accountNumber, handle, day }, new AbortController().signal),
    );
    if (effect === 'requested') await store.noteRequeried(account);
    else await store.noteUnanswered(account, { refused: effect === 'refused' });
    silent = effect === 'silent' ? silent + 1 : 0;
    const isOver = silent === MAX_SILENT || effect === 'throttled';
    if (isOver || performance.now() - began > PAGE_AT_MOST_MS) {
      await store.putBackForRequery(taken.slice(index + 1));
      const next = isOver ? null : ({ step: 'requery' } as const);
      return { ...done, asked: index + 1, unanswered: isOver, next };
    }
    await sleep(1_000 / perSecond);
  }
  const asked = taken.length;
  if (asked > 0 && silent === asked) return { ...done, asked, unanswered: true };
  return { ...done, asked, next: asked === limit ? { step: 'requery' } : null };
}

/** The reasons of an unknown outcome that are no answer of the provider. Any other one is an answer that cannot be used. */
const NO_ANSWER: ReadonlySet<UnknownReason> = new Set(['timeout', 'connection', 'server_error']);

/** The effect of an answer to a requery. */
function effectOf(answer: RequeryAnswer): 'requested' | 'refused' | 'silent' | 'throttled' {
  if (answer.kind === 'throttled') return 'throttled';
  if (answer.kind !== 'unknown') return 'requested';
  if (answer.reason === 'throttled') return 'throttled';
  return NO_ANSWER.has(answer.reason) ? 'silent' : 'refused';
}
