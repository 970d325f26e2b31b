import { setTimeout as sleep } from 'node:timers/promises';
import { mapWithConcurrency } from '../../shared/concurrency.js';
import { firstIdAt } from '../../shared/ids.js';
import type { VerifyAnswer } from '../../core/providers/transfer-provider.js';
import type { ProviderEvents } from '../../core/provider-events/index.js';
import { findStrangers } from './reconciliation.js';
import type { Providers } from '../../core/providers/registry.js';
import type { Tenants } from '../../platform/tenants/store.js';
import type { TransferFact } from './transitions.js';
import type { TransferStarter } from './workflow-starter.js';
import type { Reconcilable, Transfers } from './store.js';
import { isOpen } from '../../core/instructions/instruction.js';
import { OPEN } from '../../core/instructions/listing.js';
import { settledOf } from '../../core/outgoing-payments/outgoing-payment.js';
import { logAttention } from '../../core/supervision/attention-log.js';
import type { Log } from '../../shared/log.js';
import { transferWorkflowId, type TransferStatus } from './transfer.js';
import type { ReconciliationPage, ReconciliationPageInput } from './workflow-contract.js';
import { DAY_MS } from '../../shared/durations.js';

/** A transfer that differs from the bank's answer. `outcome` is the verdict if the answer was applied. */
type Difference = {
  id: string;
  /** Null if we have no transfer for the payment. */
  tenantId: string | null;
  provider: string;
  amountMinor: bigint;
  ours: TransferStatus | 'unknown';
  bank: string;
  difference: string;
  outcome: string | null;
};

/** The result of a reconciliation. The command line prints it under these names. */
type ReconcileReport = {
  asked: number;
  /** Number of transfers without a usable answer of the bank. */
  unanswered: number;
  differing: number;
  /** Number of differing transfers that applying the bank's answer corrected. */
  settled: number;
  /** Number of payments of the bank that we have no transfer for, among the differing ones. */
  strangers: number;
  /** The first 1,000 differing transfers. */
  differences: Difference[];
};

/** The outcome of a difference that the bank's answer does not explain, such as a payment that it does not know. */
const NOTHING_TO_APPLY = 'nothing to apply';
const PAGE = 200;
const CONCURRENT_CALLS = 8;
const MAX_LISTED = 1_000;
/** A transfer that is in flight may only lag behind the bank, so it is compared again after this time. */
const COMPARE_AGAIN_AFTER_MS = 2_000;
const IN_FLIGHT_MS = 60_000;

/** Compares a record with the bank's answer. An open record has no outcome, so only a final answer differs. */
export function agrees(ours: Reconcilable, bank: VerifyAnswer): boolean {
  if ('amountMinor' in bank && bank.amountMinor !== null && bank.amountMinor !== settledOf(ours))
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
  const amount = 'amountMinor' in bank && bank.amountMinor !== settledOf(ours);
  const suspense = ours.in_suspense ? ' (in suspense)' : '';
  const difference = `${ours.status}${suspense} with us, ${BANK_STATES[bank.kind]} at the bank`;
  return amount && bank.amountMinor !== null ? `${difference}, of another amount` : difference;
}

/** Returns the bank's answer as a fact, or null if the answer proves no outcome. */
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
  providers: Pick<Providers, 'find'>;
  providerEvents: Pick<ProviderEvents, 'receive'>;
  starter: Pick<TransferStarter, 'notifyChangedSoon'>;
};
type CommandDeps = Deps & { tenants: Tenants; providers: Pick<Providers, 'all'> };
type Options = { since: Date; apply: boolean; perSecond: number };

/** Longest time that the lookups of one page of the scheduled reconciliation take by their rate. */
const PAGE_SECONDS = 10;

/**
 * Compares transfers with the bank, by reference: all open ones, and all that were created since `since`. With `apply`
 * the bank's answer is applied as a fact, so that money moves only by the rules of the transition.
 */
export async function reconcile(deps: CommandDeps, options: Options): Promise<ReconcileReport> {
  const report = emptyReport();
  const verify = pacedVerify(deps, options.perSecond);
  for await (const page of pages(deps, options.since)) {
    await comparePage(deps, { ...options, verify, report }, page);
  }
  const { since } = options;
  const strangers = await findStrangers(deps, {
    since,
    providers: deps.providers.all.map(({ name }) => name),
  });
  for (const { reference: id, provider, state, amountMinor } of strangers) {
    report.differing += 1;
    report.strangers += 1;
    if (report.differences.length === MAX_LISTED) continue;
    const difference = `unknown with us, ${BANK_STATES[state as VerifyAnswer['kind']]} at the bank`;
    const about = { id, tenantId: null, provider, amountMinor, ours: 'unknown' as const };
    report.differences.push({ ...about, bank: state, difference, outcome: null });
  }
  return report;
}

/**
 * Compares the next page of the transfers of one provider that were created in the last `days` days and have ended, and
 * applies the bank's answers. A difference that no answer corrects raises attention.
 */
export async function reconcileNextPage(
  deps: Deps & { log: Log },
  { provider, days, perSecond, position }: ReconciliationPageInput,
): Promise<ReconciliationPage> {
  const now = Date.now();
  const { after, until } = position ?? {
    after: firstIdAt('transfer', new Date(now - days * DAY_MS)),
    until: firstIdAt('transfer', new Date(now)),
  };
  const limit = Math.min(PAGE, Math.max(1, Math.ceil(perSecond * PAGE_SECONDS)));
  const page = await deps.transfers.madeBetween(after, until, limit);
  const ended = page.filter((ours) => ours.provider === provider && !isOpen(ours));
  const report = emptyReport();
  const verify = pacedVerify(deps, perSecond);
  await comparePage(deps, { apply: true, verify, report }, ended);
  for (const { id, tenantId, difference, outcome } of report.differences) {
    if (outcome !== NOTHING_TO_APPLY || tenantId === null) continue;
    const reason = `reconciliation: ${difference}`;
    if (!(await deps.transfers.raiseDifference(tenantId, id, reason))) continue;
    const workflow_id = transferWorkflowId(id);
    logAttention(deps.log, { resource: id, tenant: tenantId, workflow_id, reason });
  }
  const { asked, unanswered, differing, settled } = report;
  const last = page.at(-1);
  const next = last && page.length === limit ? { after: last._id, until } : null;
  const since = new Date(now - days * DAY_MS);
  // The end of the run: what the bank has and we do not.
  const strangers = next ? [] : await findStrangers(deps, { since, providers: [provider] });
  return {
    counts: { asked, unanswered, differing: differing + strangers.length, settled },
    position: next,
  };
}

const emptyReport = (): ReconcileReport => ({
  asked: 0,
  unanswered: 0,
  differing: 0,
  settled: 0,
  strangers: 0,
  differences: [],
});

/** Looks transfers up at their bank, at most so many per second. */
function pacedVerify({ providers }: Pick<Deps, 'providers'>, perSecond: number): Verify {
  const waitForTurn = createPace(perSecond);
  return async ({ provider, _id }) => {
    await waitForTurn();
    const found = providers.find(provider);
    // The adapter sets the timeout of the call.
    if (found) return found.verify(_id, new AbortController().signal);
    return { kind: 'unknown', reason: 'connection', providerRequestId: null };
  };
}

async function comparePage(
  deps: Deps,
  { apply, verify, report }: { apply: boolean; verify: Verify; report: ReconcileReport },
  page: readonly Reconcilable[],
): Promise<void> {
  await mapWithConcurrency(CONCURRENT_CALLS, page, async (ours) => {
    report.asked += 1;
    const found = await compare(deps, verify, ours);
    if (found === 'agrees') return;
    if (found === 'unanswered') report.unanswered += 1;
    else await recordDifference(deps, { apply }, report, found);
  });
}

type Found = { ours: Reconcilable; bank: VerifyAnswer };
type Verify = (ours: Reconcilable) => Promise<VerifyAnswer>;

async function compare(
  { transfers }: Deps,
  verify: Verify,
  ours: Reconcilable,
): Promise<Found | 'agrees' | 'unanswered'> {
  const first = await verify(ours);
  if (first.kind === 'unknown') return 'unanswered';
  if (agrees(ours, first)) return 'agrees';
  const inFlight = isOpen(ours) || Date.now() - ours.updated_at.getTime() < IN_FLIGHT_MS;
  if (inFlight) await sleep(COMPARE_AGAIN_AFTER_MS);
  const now = await transfers.get(ours.tenant_id, ours._id);
  const bank = await verify(ours);
  if (!now || bank.kind === 'unknown') return 'unanswered';
  return agrees(now, bank) ? 'agrees' : { ours: now, bank };
}

async function recordDifference(
  { transfers, starter }: Deps,
  { apply }: Pick<Options, 'apply'>,
  report: ReconcileReport,
  { ours, bank }: Found,
): Promise<void> {
  const { _id: id, tenant_id: tenantId, provider } = ours;
  const fact = apply ? toFact(bank, provider) : null;
  const applied = fact && (await transfers.applyFact(tenantId, id, fact));
  // Wakes a waiting workflow, so that it ends or asks for attention without waiting for its timer.
  if (applied) starter.notifyChangedSoon({ _id: id });
  const verdict = applied?.kind === 'fact' ? applied.verdict : NOTHING_TO_APPLY;
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

/** Yields pages of records: first the open ones older than `since`, by tenant, then all created from then until now. */
async function* pages(
  { transfers, tenants }: CommandDeps,
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

/** Spaces calls evenly, because payments share the bank's rate limit and have priority. */
function createPace(perSecond: number): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = performance.now();
    const at = Math.max(now, next);
    next = at + 1000 / perSecond;
    if (at > now) await sleep(at - now);
  };
}
