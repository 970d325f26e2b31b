import { aboutOf, isOpen } from '../../core/instructions/instruction.js';
import { OPEN } from '../../core/instructions/listing.js';
import type { ProviderEvents } from '../../core/provider-events/index.js';
import type { Providers } from '../../core/providers/registry.js';
import type {
  ListAnswer,
  TransferProvider,
  VerifyAnswer,
} from '../../core/providers/transfer-provider.js';
import {
  addDifference,
  noteBreaks,
  notAppliedAfter,
  reconciledBy,
  signalOf,
  type ComparedRecords,
  type Difference,
  type Reconciled,
  type ReconcileRun,
  type ReconcileScope,
} from '../../core/reconciliation/comparison.js';
import { PAGE, paged, type RecordPage } from '../../core/reconciliation/pages.js';
import {
  describePayment,
  paymentAgrees,
  paymentFact,
  STATES,
} from '../../core/reconciliation/payment-answers.js';
import { lacksFee } from '../../core/outgoing-payments/provider-fee.js';
import { transferRateLimitKey } from '../../platform/temporal/queues.js';
import { DAY_MS } from '../../shared/durations.js';
import { firstIdAt, isId } from '../../shared/ids.js';
import type { Reconcilable, Transfers } from './store.js';
import type { TransferStarter } from './workflow-starter.js';

type Deps = {
  transfers: { store: Transfers; starter: Pick<TransferStarter, 'notifyChangedSoon'> };
  providers: Pick<Providers, 'find'>;
};

/** Transfers, as they are compared with their bank, and payments of the bank that we have no transfer for. */
export function reconciledTransfers(
  deps: Deps & Pick<StrangerDeps, 'providerEvents'> & { providers: Pick<Providers, 'all'> },
): Reconciled {
  const known = reconciledBy(comparedTransfers(deps), (scope) =>
    inOnePart(pages(deps.transfers.store, scope)),
  );
  return {
    ...known,
    async reconcile(run, scope) {
      await known.reconcile(run, scope);
      const providers = deps.providers.all.map(({ name }) => name);
      await searchLists(deps, run, { since: scope.since, providers });
    },
  };
}

type ListedTransfer = Extract<ListAnswer, { kind: 'page' }>['items'][number];
type ListedState = ListedTransfer['state'];

const differenceOf = (provider: string, { reference, state }: ListedTransfer): Difference => ({
  kind: 'transfers',
  breakKind: 'missing_here',
  id: reference,
  tenantId: null,
  provider,
  amountMinor: 'amountMinor' in state ? (state.amountMinor ?? 0n) : 0n,
  ours: 'unknown',
  bank: state.kind,
  difference: `unknown with us, ${STATES[state.kind]} at the bank`,
  outcome: null,
});

/** Transfers with their look-up at the bank. An answer is applied as a fact, so money moves by the rules of the transition. */
export const comparedTransfers = ({
  transfers: { store, starter },
  providers,
}: Deps): ComparedRecords<Reconcilable, VerifyAnswer> => ({
  kind: 'transfers',
  rateLimitKey: transferRateLimitKey,
  get: store.get,
  async ask(transfer, signal) {
    const found = providers.find(transfer.provider);
    if (found) return found.verify(aboutOf(transfer), signal);
    return { kind: 'unknown', reason: 'connection', providerRequestId: null };
  },
  agrees: (ours, answer) => paymentAgrees(ours, answer) && !lacksFee(ours, answer),
  describe(ours, answer) {
    const described = describePayment(ours, answer);
    if (!paymentAgrees(ours, answer)) return described;
    return { ...described, difference: 'completed, and the price of the bank is not booked' };
  },
  async apply({ tenant_id: tenantId, _id: id, provider }, answer) {
    const fact = paymentFact(answer, provider);
    const applied = fact && (await store.applyFact(tenantId, id, fact));
    // Wakes a waiting workflow, so that it ends or asks for attention without waiting for its timer.
    if (applied) starter.notifyChangedSoon({ _id: id });
    return applied?.kind === 'fact' ? applied.verdict : null;
  },
});

/** True for a transfer that a reconciliation of ended ones compares. */
export const hasEnded =
  (provider: string) =>
  (transfer: Reconcilable): boolean =>
    transfer.provider === provider && !isOpen(transfer);

/** The pages of transfers have no positions: their own workflow continues a comparison. */
async function* inOnePart<R>(all: AsyncIterable<readonly R[]>): AsyncGenerator<RecordPage<R>> {
  for await (const records of all) yield { records, next: null };
}

/** Yields pages of records: first the open ones older than `since`, by tenant, then all created from then until now. */
async function* pages(
  transfers: Transfers,
  { since, tenants }: ReconcileScope,
): AsyncGenerator<readonly Reconcilable[]> {
  const [from, until] = [firstIdAt('transfer', since), firstIdAt('transfer', new Date())];
  for (const tenantId of tenants) {
    for (const status of OPEN) {
      yield* paged<Reconcilable>((after) =>
        transfers.openBefore({ tenantId, status, before: from, after }, PAGE),
      );
    }
  }
  yield* paged<Reconcilable>((after) => transfers.madeBetween(after?._id ?? from, until, PAGE));
}

/** Older transfers may be in an archive, so they are not looked for. */
const MAX_AGE_MS = 29 * DAY_MS;

type StrangerDeps = {
  transfers: { store: Pick<Transfers, 'missing'> };
  providers: Pick<Providers, 'find'>;
  providerEvents: Pick<ProviderEvents, 'receive'>;
};

type SearchRun = Pick<
  ReconcileRun,
  'takeTurn' | 'report' | 'breaks' | 'answered' | 'signal' | 'log'
>;

/** The part of a provider's list that a search reads. */
type Window = { from: Date; to: Date };

/** The payments since then, as far as they are looked for. */
export function searchedSince(since: Date): Window {
  const to = new Date();
  return { from: new Date(Math.max(since.getTime(), to.getTime() - MAX_AGE_MS)), to };
}

/** Reads the whole list of each provider that has one. A page without an answer ends its search. */
async function searchLists(
  deps: StrangerDeps,
  run: SearchRun,
  { since, providers }: { since: Date; providers: readonly string[] },
): Promise<void> {
  const window = searchedSince(since);
  for (const name of providers) {
    const provider = deps.providers.find(name);
    let cursor: string | null = null;
    if (!provider?.list) continue;
    do cursor = (await searchListPage(deps, run, provider, { ...window, cursor }))?.next ?? null;
    while (cursor !== null);
  }
}

/**
 * Finds on one page of a provider's list the payments that it has under a reference of ours, and that we have no transfer for. Each
 * is a difference of the run, and calls an operator. Returns the cursor of the next page; null without an answer.
 */
export async function searchListPage(
  { transfers, providerEvents }: StrangerDeps,
  run: SearchRun,
  provider: TransferProvider,
  page: Window & { cursor: string | null },
): Promise<{ next: string | null } | null> {
  const { takeTurn, report, breaks, answered } = run;
  await takeTurn();
  const answer: ListAnswer | undefined = await provider.list?.(page, signalOf(run));
  if (answer) answered?.(transferRateLimitKey(provider.name), answer);
  if (answer?.kind !== 'page') return null;
  const ours = answer.items.filter(({ reference }) => isId('transfer', reference));
  const references = ours.map(({ reference }) => reference);
  const missing = new Set(await transfers.store.missing(references));
  const strangers = ours.filter(
    ({ reference, state }) => missing.has(reference) && 'amountMinor' in state,
  );
  for (const each of strangers) {
    const resource = { id: each.reference, tenantId: null };
    await callOperator(providerEvents, provider.name, each).catch(notAppliedAfter(run, resource));
  }
  const differences = strangers.map((each) => differenceOf(provider.name, each));
  for (const difference of differences) addDifference(report, difference);
  // A transfer of ours is compared by its own look-up, so the list speaks of the missing ones alone.
  await noteBreaks(breaks, provider.name, [...missing], differences);
  return { next: answer.next };
}

/** Stores the payment as a message of its provider, once: its application finds no transfer, and calls an operator. */
async function callOperator(
  providerEvents: StrangerDeps['providerEvents'],
  provider: string,
  { reference, state }: ListedTransfer,
): Promise<void> {
  const received = await providerEvents.receive(provider, {
    port: 'transfers',
    reading: { kind: 'event', event: eventOf(reference, state) },
    message: { reference, status: state.kind },
  });
  received.after();
}

const eventOf = (reference: string, state: ListedState) => ({
  dedupeKey: `listed/${reference}/${state.kind}`,
  reference,
  name: 'transfer.listed',
  state,
  occurredAt: null,
});
