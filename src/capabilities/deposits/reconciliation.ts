import { setTimeout as sleep } from 'node:timers/promises';
import type {
  AccountProvider,
  ProviderDeposit,
  RequeryAnswer,
} from '../../core/providers/account-provider.js';
import type { UnknownReason } from '../../core/providers/port.js';
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

type Deps = {
  deposits: { store: Pick<Deposits, 'ofProvider'>; providerCalls: Pick<DepositCalls, 'report'> };
  virtualAccounts: {
    store: Pick<
      VirtualAccounts,
      'takeForRequery' | 'noteRequeried' | 'noteUnanswered' | 'putBackForRequery'
    >;
  };
  providers: { findAccountProvider(name: string): AccountProvider | undefined };
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
  let found = 0;
  for (const item of answer.items) if (await recordMissed(deps, provider.name, item)) found += 1;
  const next =
    answer.next === null ? ({ step: 'requery' } as const) : { ...position, cursor: answer.next };
  return { found, asked: 1, unanswered: false, next };
}

/** Records a deposit of the provider's list that no message has reported. False if it is known. */
export async function recordMissed(
  { deposits }: Pick<Deps, 'deposits'>,
  provider: string,
  { id, accountNumber, amountMinor, receivedAt }: ProviderDeposit,
): Promise<boolean> {
  if (await deposits.store.ofProvider(provider, id)) return false;
  const detail = 'found in the provider’s list: no message has reported it';
  await deposits.providerCalls.report(provider, {
    id,
    accountNumber,
    amountMinor,
    receivedAt,
    via: 'poll',
    detail,
  });
  return true;
}

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
