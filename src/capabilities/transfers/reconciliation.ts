import type { ProviderEvents } from '../../core/provider-events/index.js';
import type { Providers } from '../../core/providers/registry.js';
import type { ListAnswer, TransferProvider } from '../../core/providers/transfer-provider.js';
import { DAY_MS } from '../../shared/durations.js';
import { isId } from '../../shared/ids.js';
import type { Transfers } from './store.js';

/** Older transfers may be in an archive, so they are not looked for. */
const MAX_AGE_MS = 29 * DAY_MS;
/** Pages that are read of one provider: a hundred thousand payments. */
const MAX_PAGES = 1_000;

/** A payment that a provider has under a reference of ours, and that we have no transfer for. */
export type Stranger = { reference: string; provider: string; state: string; amountMinor: bigint };

type Deps = {
  transfers: Pick<Transfers, 'missing'>;
  providers: Pick<Providers, 'find'>;
  providerEvents: Pick<ProviderEvents, 'receive'>;
};

/** All payments since then of these providers that we have no transfer for. A provider without a list has none to show. */
export async function findStrangers(
  deps: Deps,
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
  { transfers, providerEvents }: Deps,
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
    const missing = new Set(await transfers.missing(ours.map(({ reference }) => reference)));
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
  providerEvents: Deps['providerEvents'],
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
