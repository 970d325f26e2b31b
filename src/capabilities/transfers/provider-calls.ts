import { setTimeout as sleep } from 'node:timers/promises';
import { mapWithConcurrency } from '../../shared/concurrency.js';
import { firstIdAt } from '../../shared/ids.js';
import type { VerifyAnswer } from '../../core/providers/transfer-provider.js';
import type { Providers } from '../../core/providers/registry.js';
import type { Tenants } from '../../platform/tenants/store.js';
import type { TransferFact } from './transitions.js';
import type { TransferStarter } from './starter.js';
import type { Reconcilable, Transfers } from './store.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { OPEN, type TransferStatus } from './transfer.js';

/** Something that the bank tells otherwise. `outcome` is what its word came to, where it was applied. */
export type Difference = {
  id: string;
  tenantId: string;
  provider: string;
  amountMinor: bigint;
  ours: TransferStatus;
  bank: VerifyAnswer['kind'];
  difference: string;
  outcome: string | null;
};

export type ReconcileReport = {
  asked: number;
  /** The bank gave no usable answer about these. */
  unanswered: number;
  differing: number;
  /** Of those, how many were put right. */
  settled: number;
  /** The first of them. */
  differences: Difference[];
};

const PAGE = 200;
const CONCURRENT_CALLS = 8;
const MAX_LISTED = 1_000;
/** What is on its way at this moment is only behind, not different: it is looked at again after this. */
const SECOND_LOOK_AFTER_MS = 2_000;
const IN_FLIGHT_MS = 60_000;

/** Whether a record says what the bank says. An open record says nothing, so only a final word is another one. */
export function agrees(ours: Reconcilable, bank: VerifyAnswer): boolean {
  if ('amountMinor' in bank && bank.amountMinor !== null && bank.amountMinor !== ours.amount_minor)
    return false;
  if (isOpen(ours)) return bank.kind === 'pending' || bank.kind === 'not_found';
  if (ours.status === 'completed' || ours.in_suspense) return bank.kind === 'succeeded';
  if (ours.reversed_at !== null) return bank.kind === 'reversed';
  if (bank.kind === 'pending') return ours.monitor_until !== null;
  return bank.kind === 'rejected' || bank.kind === 'not_found';
}

const BANK_STATES: Record<VerifyAnswer['kind'], string> = {
  succeeded: 'paid',
  rejected: 'refused',
  reversed: 'reversed',
  pending: 'pending',
  not_found: 'unknown',
  unknown: 'silent',
};

function describe(ours: Reconcilable, bank: VerifyAnswer): string {
  const amount = 'amountMinor' in bank && bank.amountMinor !== ours.amount_minor;
  const suspense = ours.in_suspense ? ' (in suspense)' : '';
  const difference = `${ours.status}${suspense} with us, ${BANK_STATES[bank.kind]} at the bank`;
  return amount && bank.amountMinor !== null ? `${difference}, of another amount` : difference;
}

/** The bank's word as a fact. Null where it rules nothing in or out: no fact, nothing to apply. */
function toFact(bank: VerifyAnswer, actor: string): TransferFact | null {
  const { providerRequestId } = bank;
  const source = { via: 'poll', actor, providerRequestId, note: 'reconciliation' } as const;
  switch (bank.kind) {
    case 'succeeded':
    case 'reversed': {
      const { kind, amountMinor, sessionId } = bank;
      return { ...source, kind, amountMinor, sessionId };
    }
    case 'rejected':
      return { ...source, kind: 'rejected', code: bank.code };
    case 'pending':
    case 'not_found':
    case 'unknown':
      return null;
  }
}

type Deps = {
  transfers: Transfers;
  tenants: Tenants;
  providers: Providers;
  starter: TransferStarter;
};
type Options = { since: Date; apply: boolean; perSecond: number };

/**
 * Holds records against the bank, which is asked by reference: what is open, however old, and whatever was made since
 * then. With `apply` the bank's word goes through the state guard like any other fact; money moves by its rules alone.
 */
export async function reconcile(deps: Deps, options: Options): Promise<ReconcileReport> {
  const report: ReconcileReport = {
    asked: 0,
    unanswered: 0,
    differing: 0,
    settled: 0,
    differences: [],
  };
  const waitForTurn = createPace(options.perSecond);
  const ask = async ({ provider, _id }: Reconcilable): Promise<VerifyAnswer> => {
    await waitForTurn();
    const found = deps.providers.find(provider);
    // A call has its own time limit.
    if (found) return found.verify(_id, new AbortController().signal);
    return { kind: 'unknown', reason: 'connection', providerRequestId: null };
  };
  for await (const page of pages(deps, options.since)) {
    await mapWithConcurrency(CONCURRENT_CALLS, page, async (ours) => {
      report.asked += 1;
      const found = await compare(deps, ask, ours);
      if (found === 'agrees') return;
      if (found === 'unanswered') report.unanswered += 1;
      else await recordDifference(deps, options, report, found);
    });
  }
  return report;
}

type Found = { ours: Reconcilable; bank: VerifyAnswer };
type Ask = (ours: Reconcilable) => Promise<VerifyAnswer>;

async function compare(
  { transfers }: Deps,
  ask: Ask,
  ours: Reconcilable,
): Promise<Found | 'agrees' | 'unanswered'> {
  const first = await ask(ours);
  if (first.kind === 'unknown') return 'unanswered';
  if (agrees(ours, first)) return 'agrees';
  const inFlight = isOpen(ours) || Date.now() - ours.updated_at.getTime() < IN_FLIGHT_MS;
  if (inFlight) await sleep(SECOND_LOOK_AFTER_MS);
  const now = await transfers.get(ours.tenant_id, ours._id);
  const bank = await ask(ours);
  if (!now || bank.kind === 'unknown') return 'unanswered';
  return agrees(now, bank) ? 'agrees' : { ours: now, bank };
}

async function recordDifference(
  { transfers, starter }: Deps,
  { apply }: Options,
  report: ReconcileReport,
  { ours, bank }: Found,
): Promise<void> {
  const { _id: id, tenant_id: tenantId, provider } = ours;
  const fact = apply ? toFact(bank, provider) : null;
  const applied = fact && (await transfers.applyFact(tenantId, id, fact));
  // A workflow that waits sees at once that it may end, or that an operator is needed.
  if (applied) starter.notifyChangedSoon({ _id: id });
  const verdict = applied?.kind === 'fact' ? applied.verdict : 'nothing to apply';
  report.differing += 1;
  if (apply && verdict === 'applied') report.settled += 1;
  if (report.differences.length === MAX_LISTED) return;
  report.differences.push({
    id,
    tenantId,
    provider,
    amountMinor: ours.amount_minor,
    ours: ours.status,
    bank: bank.kind,
    difference: describe(ours, bank),
    outcome: apply ? verdict : null,
  });
}

/** Pages of records: what is older than `since` and open, tenant by tenant, then what was made from then until now. */
async function* pages(
  { transfers, tenants }: Deps,
  since: Date,
): AsyncGenerator<readonly Reconcilable[]> {
  const [from, until] = [firstIdAt('transfer', since), firstIdAt('transfer', new Date())];
  for (const { id: tenantId } of await tenants.list()) {
    for (const status of OPEN) {
      yield* paged((after) =>
        transfers.openBefore({ tenantId, status, before: from, after }, PAGE),
      );
    }
  }
  yield* paged((after) => transfers.madeBetween(after?._id ?? from, until, PAGE));
}

async function* paged(
  read: (after: Reconcilable | undefined) => Promise<Reconcilable[]>,
): AsyncGenerator<Reconcilable[]> {
  let after: Reconcilable | undefined;
  do {
    const page = await read(after);
    yield page;
    after = page.length === PAGE ? page.at(-1) : undefined;
  } while (after);
}

/** Turns at even distances: the bank's limit is for those who wait for their payments first. */
function createPace(perSecond: number): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = performance.now();
    const at = Math.max(now, next);
    next = at + 1000 / perSecond;
    if (at > now) await sleep(at - now);
  };
}
