import type {
  Dispute as TheirDispute,
  PaymentProvider,
} from '../../core/providers/payment-provider.js';
import {
  addDifference,
  CONCURRENT_CALLS,
  foundOf,
  noteBreaks,
  notAppliedAfter,
  NOTHING_TO_APPLY,
  signalOf,
  unansweredAfter,
  type Difference,
  type Reconciled,
  type ReconcileRun,
  type ReconcileScope,
} from '../../core/reconciliation/comparison.js';
import {
  PAGE,
  tenantsLeft,
  type PagePosition,
  type RecordPage,
} from '../../core/reconciliation/pages.js';
import type { RecordKey } from '../../core/reconciliation/breaks.js';
import { reconciliationSource } from '../../core/reconciliation/payment-answers.js';
import { mapWithConcurrency } from '../../shared/concurrency.js';
import { DAY_MS } from '../../shared/durations.js';
import { readAttempt, type Charge } from '../charges/record.js';
import type { Charges } from '../charges/index.js';
import { readDispute } from './provider-calls.js';
import { reasonIn } from './provider-events.js';
import { disputeId, inBookingOrder, isInDoubt, type Dispute } from './record.js';
import type { Disputes } from './store.js';

type Deps = {
  charges: { store: Pick<Charges, 'find' | 'get'> };
  disputes: { store: Pick<Disputes, 'get' | 'applyFact' | 'openOf'> };
  providers: { payment(name: string): PaymentProvider; payments: readonly PaymentProvider[] };
};

/** A dispute is decided weeks after it was opened, and the list is by the time of its opening. */
const LASTS_MS = 45 * DAY_MS;

/** A dispute at its provider, with our charge and our record; null if there is none. */
type Found = { charge: Charge; attempt: number; ours: Dispute | null; theirs: TheirDispute };

/**
 * Disputes, as they are compared with their providers. Each open one of ours is asked about by its charge, at any age; then the
 * lists of those providers that have one are read. A dispute that no message told is booked, and so is a decision. A dispute that
 * a list leaves out may exist all the same.
 */
export function reconciledDisputes(deps: Deps): Reconciled {
  async function compareAll(run: ReconcileRun, known: readonly Dispute[]): Promise<void> {
    await mapWithConcurrency(CONCURRENT_CALLS, known, async (dispute) => {
      const resource = { id: dispute._id, tenantId: dispute.tenant_id };
      const result = await compareOne(deps, run, dispute).catch(unansweredAfter(run, resource));
      if (result === 'unanswered') noteUnanswered(run);
    });
  }
  async function compareKeys(run: ReconcileRun, keys: readonly RecordKey[]): Promise<number> {
    const known = await foundOf(keys, ({ tenantId, id }) =>
      tenantId === null ? Promise.resolve(null) : deps.disputes.store.get(tenantId, id),
    );
    await compareAll(run, known);
    return known.length;
  }
  async function comparePage(
    run: ReconcileRun,
    scope: ReconcileScope,
    position: PagePosition | null,
  ): Promise<PagePosition | null> {
    if (position?.list) return compareListPage(deps, run, scope, position);
    const { records, next } = await openPage(deps, scope, position);
    await compareAll(run, records);
    return next;
  }
  return {
    kind: 'disputes',
    async reconcile(run, scope) {
      let at: PagePosition | null = null;
      do at = await comparePage(run, scope, at);
      while (at !== null);
    },
    reconcilePage: comparePage,
    reconcileOne: async (run, tenantId, id) => (await compareKeys(run, [{ tenantId, id }])) > 0,
    reconcileAll: async (run, keys) => void (await compareKeys(run, keys)),
  };
}

/**
 * A page of our open disputes of these tenants, tenant by tenant, the oldest first. It goes on to further tenants until it is full:
 * one dispute without an answer leaves no page without any. After the last page follow the lists of the providers.
 */
async function openPage(
  { disputes: { store }, providers: { payments } }: Deps,
  { tenants, limit = PAGE }: ReconcileScope,
  from: PagePosition | null,
): Promise<RecordPage<Dispute>> {
  const until = from?.until ?? new Date().toISOString();
  const records: Dispute[] = [];
  const { tenants: left, after: place } = tenantsLeft(tenants, from);
  let after = place;
  for (const tenant of left) {
    const at = after && { id: after.id, createdAt: new Date(after.createdAt) };
    records.push(...(await store.openOf(tenant, at, limit - records.length)));
    const last = records.length === limit ? records.at(-1) : undefined;
    if (last) {
      const created = last.created_at.toISOString();
      return { records, next: { tenant, after: { id: last._id, createdAt: created }, until } };
    }
    after = null;
  }
  return { records, next: listPosition(payments, null, until) };
}

/** The beginning of the list of the provider after this one, of those that have a list. Null after the last one. */
function listPosition(
  payments: readonly PaymentProvider[],
  after: string | null,
  until: string,
): PagePosition | null {
  const listing = payments.filter(({ listDisputes }) => listDisputes !== undefined);
  const next = listing[listing.findIndex(({ name }) => name === after) + 1];
  return next
    ? { tenant: null, after: null, until, list: { provider: next.name, cursor: null } }
    : null;
}

/** Compares one page of a provider's list of disputes. */
async function compareListPage(
  deps: Deps,
  run: ReconcileRun,
  { since }: ReconcileScope,
  position: PagePosition,
): Promise<PagePosition | null> {
  const { payments } = deps.providers;
  const { until, list } = position;
  const provider = payments.find(({ name }) => name === list?.provider);
  const further = listPosition(payments, provider?.name ?? null, until);
  if (!list || !provider?.listDisputes) return provider ? further : null;
  const { name, listDisputes } = provider;
  const window = { from: new Date(since.getTime() - LASTS_MS), to: new Date(until) };
  await run.takeTurn();
  const page = await listDisputes({ ...window, cursor: list.cursor }, signalOf(run));
  if (page.kind !== 'page') {
    // After some repeats of this page, the rest of the list is left to the next run, which reads it anew.
    noteUnanswered(run);
    return further;
  }
  const reports = inBookingOrder(page.items);
  const found = await Promise.all(reports.map((theirs) => find(deps, name, theirs)));
  const { providerRequestId } = page;
  await compareFound(deps, run, name, {
    all: found.filter((each) => each !== null),
    providerRequestId,
  });
  return page.next === null
    ? further
    : { ...position, list: { provider: name, cursor: page.next } };
}

function noteUnanswered({ report }: ReconcileRun): void {
  report.asked += 1;
  report.unanswered += 1;
}

/** Compares one dispute with those that its provider lists for its charge. */
async function compareOne(
  deps: Deps,
  run: ReconcileRun,
  ours: Dispute,
): Promise<'compared' | 'unanswered'> {
  const { provider: name } = ours;
  const charge = await deps.charges.store.get(ours.tenant_id, ours.charge_id);
  if (!charge) return 'unanswered';
  const { theirs, providerRequestId } = await readDispute(deps.providers, charge, ours, {
    signal: signalOf(run),
    takeTurn: () => run.takeTurn(),
  });
  if (!theirs) return 'unanswered';
  const { attempt } = charge;
  await compareFound(deps, run, name, {
    all: [{ charge, attempt, ours, theirs }],
    providerRequestId,
  });
  return 'compared';
}

/** The charge and the record of a dispute of a provider; null if the charge is not ours. */
async function find(
  { charges, disputes }: Deps,
  provider: string,
  theirs: TheirDispute,
): Promise<Found | null> {
  const of = readAttempt(theirs.charge.reference);
  const charge = of && (await charges.store.find(of.id));
  if (!of || charge?.provider !== provider) return null;
  const ours = await disputes.store.get(charge.tenant_id, disputeId(provider, theirs.id));
  return { charge, attempt: of.attempt, ours, theirs };
}

/** True if the provider's report may call an operator, or end a call, though nothing differs. */
const mayCall = ({ charge, ours, theirs }: Found): boolean =>
  theirs.state === 'open'
    ? theirs.dueAt !== null || ours?.attention != null
    : ours?.status === 'lost' && isInDoubt(charge, ours, theirs);

/** Applies the provider's word on those that differ, and keeps as breaks what still differs then. */
async function compareFound(
  deps: Deps,
  run: ReconcileRun,
  provider: string,
  { all, providerRequestId }: { all: readonly Found[]; providerRequestId: string | null },
): Promise<void> {
  const differing: Difference[] = [];
  for (const found of all) {
    run.report.asked += 1;
    const { charge, theirs } = found;
    const resource = { id: disputeId(provider, theirs.id), tenantId: charge.tenant_id };
    const applyFound = () =>
      apply(deps, found, providerRequestId).catch(notAppliedAfter(run, resource));
    if (agrees(found)) {
      if (run.apply && mayCall(found)) await applyFound();
      continue;
    }
    const outcome = run.apply ? await applyFound() : null;
    const difference = { ...describe(found), outcome };
    addDifference(run.report, difference);
    differing.push(difference);
  }
  const ids = all.map(({ theirs }) => disputeId(provider, theirs.id));
  await noteBreaks(run.breaks, provider, ids, differing);
}

/** Books the provider's word. Returns the outcome of the difference. */
async function apply(
  { charges, disputes: { store } }: Deps,
  found: Found,
  providerRequestId: string | null,
): Promise<string> {
  const { charge, attempt, theirs } = found;
  const { amountMinor, currency, state, byReversal = false, funds, dueAt } = theirs;
  const { verdict } = await store.applyFact(
    charge,
    { attempt, providerDisputeId: theirs.id },
    {
      ...reconciliationSource(charge.provider, providerRequestId),
      amountMinor,
      currency,
      state,
      byReversal,
      funds,
      dueAt,
      reason: reasonIn(theirs),
    },
  );
  const ours = await store.get(charge.tenant_id, disputeId(charge.provider, theirs.id));
  // It counts the disputes that were booked before this one.
  const present = (await charges.store.get(charge.tenant_id, charge._id)) ?? charge;
  if (agrees({ charge: present, ours, theirs })) return 'applied';
  return verdict === 'not_booked' ? NOTHING_TO_APPLY : verdict;
}

/**
 * True if our record has the amount and the state that the provider lists. A dispute whose outcome the list leaves open agrees with
 * it however it was decided.
 */
export const agrees = ({ charge, ours, theirs }: Omit<Found, 'attempt'>): boolean =>
  ours !== null &&
  ours.amount_minor === theirs.amountMinor &&
  (ours.status === theirs.state || (ours.status !== 'open' && isInDoubt(charge, ours, theirs))) &&
  (ours.status !== 'open' || ours.funds === theirs.funds || ours.funds === 'taken');

function describe({ charge, ours, theirs }: Found): Omit<Difference, 'outcome'> {
  const isOther = ours !== null && ours.amount_minor !== theirs.amountMinor;
  const state = ours?.status ?? 'unknown';
  const difference = `${state} with us, ${theirs.state} at the bank`;
  return {
    kind: 'disputes',
    breakKind: ours === null ? 'missing_here' : isOther ? 'other_amount' : 'other_state',
    id: disputeId(charge.provider, theirs.id),
    tenantId: charge.tenant_id,
    provider: charge.provider,
    amountMinor: ours?.amount_minor ?? theirs.amountMinor,
    ours: state,
    bank: theirs.state,
    difference: isOther ? `${difference}, of another amount` : difference,
  };
}
