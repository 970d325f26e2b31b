import { isOpen } from '../../core/instructions/instruction.js';
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
  reconciledBy,
  type ComparedRecords,
  type Difference,
  type Reconciled,
  type ReconcileScope,
} from '../../core/reconciliation/comparison.js';
import { PAGE, paged } from '../../core/reconciliation/pages.js';
import {
  describePayment,
  paymentAgrees,
  paymentFact,
  STATES,
} from '../../core/reconciliation/payment-answers.js';
import { DAY_MS } from '../../shared/durations.js';
import { firstIdAt, isId } from '../../shared/ids.js';
import type { Reconcilable, Transfers } from './store.js';
import type { TransferStarter } from './workflow-starter.js';

type Deps = {
  transfers: { store: Transfers; starter: Pick<TransferStarter, 'notifyChangedSoon'> };
  providers: Pick<Providers, 'find'>;
};

/** Transfers, as they are compared with their bank by our reference, and payments of the bank that we have no transfer for. */
export function reconciledTransfers(
  deps: Deps & Pick<StrangerDeps, 'providerEvents'> & { providers: Pick<Providers, 'all'> },
): Reconciled {
  const known = reconciledBy(comparedTransfers(deps), (scope) =>
    pages(deps.transfers.store, scope),
  );
  return {
    kind: known.kind,
    async reconcile(run, scope) {
      await known.reconcile(run, scope);
      const providers = deps.providers.all.map(({ name }) => name);
      const strangers = await findStrangers(deps, { since: scope.since, providers });
      for (const stranger of strangers) addDifference(run.report, differenceOf(stranger));
    },
  };
}

const differenceOf = ({ reference, provider, state, amountMinor }: Stranger): Difference => ({
  kind: 'transfers',
  id: reference,
  tenantId: null,
  provider,
  amountMinor,
  ours: 'unknown',
  bank: state,
  difference: `unknown with us, ${STATES[state]} at the bank`,
  outcome: null,
});

/** Transfers with their look-up at the bank. An answer is applied as a fact, so money moves by the rules of the transition. */
export const comparedTransfers = ({
  transfers: { store, starter },
  providers,
}: Deps): ComparedRecords<Reconcilable, VerifyAnswer> => ({
  kind: 'transfers',
  get: store.get,
  async ask({ provider, _id: id }, signal) {
    const found = providers.find(provider);
    if (found) return found.verify(id, signal);
    return { kind: 'unknown', reason: 'connection', providerRequestId: null };
  },
  agrees: paymentAgrees,
  describe: describePayment,
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
/** Pages that are read of one provider: a hundred thousand payments. */
const MAX_PAGES = 1_000;

/** A payment that a provider has under a reference of ours, and that we have no transfer for. */
export type Stranger = {
  reference: string;
  provider: string;
  state: VerifyAnswer['kind'];
  amountMinor: bigint;
};

type StrangerDeps = {
  transfers: { store: Pick<Transfers, 'missing'> };
  providers: Pick<Providers, 'find'>;
  providerEvents: Pick<ProviderEvents, 'receive'>;
};

/** All payments since then of these providers that we have no transfer for. A provider without a list has none to show. */
export async function findStrangers(
  deps: StrangerDeps,
  { since, providers }: { since: Date; providers: readonly string[] },
): Promise<Stranger[]> {
  const to = new Date();
  const from = new Date(Math.max(since.getTime(), to.getTime() - MAX_AGE_MS));
  const found: Stranger[] = [];
  for (const name of providers) {
    const provider = deps.providers.find(name);
    if (provider?.list) found.push(...(await strangersAt(deps, provider, { from, to })));
  }
  return found;
}

/** A page that has no answer ends the search: the next run begins again. */
async function strangersAt(
  { transfers, providerEvents }: StrangerDeps,
  provider: TransferProvider,
  { from, to }: { from: Date; to: Date },
): Promise<Stranger[]> {
  const strangers: Stranger[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer: ListAnswer | undefined = await provider.list?.(
      { from, to, cursor },
      new AbortController().signal,
    );
    if (answer?.kind !== 'page') break;
    const ours = answer.items.filter(({ reference }) => isId('transfer', reference));
    const missing = new Set(await transfers.store.missing(ours.map(({ reference }) => reference)));
    for (const { reference, state } of ours) {
      if (!missing.has(reference) || !('amountMinor' in state)) continue;
      await callOperator(providerEvents, provider.name, { reference, state });
      const amountMinor = state.amountMinor ?? 0n;
      strangers.push({ reference, provider: provider.name, state: state.kind, amountMinor });
    }
    if (answer.next === null) break;
    cursor = answer.next;
  }
  return strangers;
}

/** Stores the payment as a message of its provider, once: its application finds no transfer, and calls an operator. */
async function callOperator(
  providerEvents: StrangerDeps['providerEvents'],
  provider: string,
  { reference, state }: { reference: string; state: Parameters<typeof eventOf>[1] },
): Promise<void> {
  const received = await providerEvents.receive(provider, {
    port: 'transfers',
    reading: { kind: 'event', event: eventOf(reference, state) },
    message: { reference, status: state.kind },
  });
  received.after();
}

type ListedState = Extract<ListAnswer, { kind: 'page' }>['items'][number]['state'];

const eventOf = (reference: string, state: ListedState) => ({
  dedupeKey: `listed/${reference}/${state.kind}`,
  reference,
  name: 'transfer.listed',
  state,
  occurredAt: null,
});
