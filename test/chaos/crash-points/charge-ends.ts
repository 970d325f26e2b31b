import { randomUUID } from 'node:crypto';
import { acquirerEffects, onPage, type ChargeView } from '../../support/payments.js';
import { eventually } from '../../support/eventually.js';
import { instructionPoints, namesOf, VERIFY_POINTS, type Case } from './capability.js';
import type { Cluster, Death } from './cluster.js';
import { allDelivered } from './commands.js';

const PAID_MINOR = 300_000;
/** 1.5 % and ₦100, or 1.5 % of half of it. */
const [FEE_MINOR, HALF_FEE_MINOR] = [14_500, 2_250];

const kindsOf = async ({ service }: Cluster, reference: string) =>
  (await acquirerEffects(service, reference)).map(({ kind }) => kind);

/** The wallet has gained this since a balance, and nothing more follows. */
async function gained(cluster: Cluster, before: { available: number }, minor: number) {
  await eventually(`the wallet has gained ${minor}`, async () =>
    (await cluster.tenant.balance()).available === before.available + minor ? true : undefined,
  );
  await cluster.isQuiet();
  expect(await cluster.tenant.balance()).toEqual({ available: before.available + minor, held: 0 });
}

/** The provider reports a payment, and three seconds later its fee: the fee is booked once. */
const feeLater = (deaths: readonly Death[]): Case => ({
  name: `a charge whose fee is told later: ${namesOf(deaths)}`,
  async run(cluster) {
    const before = await cluster.tenant.balance();
    const { reference, url } = await cluster.payments.page('017');
    await allDelivered(cluster, reference, ['charge.requires_action']);
    await cluster.dies(deaths, () => onPage(url));
    await cluster.payments.waitFor(reference, 'completed');
    await cluster.isNotified(reference, ['charge.completed', 'charge.requires_action']);
    await gained(cluster, before, PAID_MINOR - FEE_MINOR);
    expect(await kindsOf(cluster, reference)).toEqual(['charged']);
  },
});

/** A tenant cancels a charge on a page while a process dies: it fails once, and nobody can pay it. */
const cancelled = (deaths: readonly Death[]): Case => ({
  name: `a charge that its tenant cancels: ${namesOf(deaths)}`,
  async run(cluster) {
    const { payments, tenant } = cluster;
    const before = await tenant.balance();
    const { reference, url } = await payments.page();
    await allDelivered(cluster, reference, ['charge.requires_action']);
    const key = randomUUID();
    const cancel = () =>
      payments.call<ChargeView>('POST', `/payments/charges/${reference}/cancel`, {}, { key });
    await cluster.dies(deaths, () => cancel().catch(() => null));
    expect(await cancel()).toMatchObject({ status: 200, body: { data: { status: 'failed' } } });
    await onPage(url);
    await cluster.isNotified(reference, ['charge.failed', 'charge.requires_action']);
    await cluster.isQuiet();
    expect(await payments.get(reference)).toMatchObject({ failure: { code: 'cancelled' } });
    expect(await kindsOf(cluster, reference)).toEqual([]);
    expect(await tenant.balance()).toEqual(before);
  },
});

/** An operator accepts half of the amount, which is in suspense, while the worker dies: it is credited once. */
const accepted = (point: string): Case => ({
  name: `a payment that an operator accepts from suspense: the worker dies at ${point}`,
  async run(cluster) {
    const { payments, service, tenant } = cluster;
    const before = await tenant.balance();
    const { reference, url } = await payments.page('014');
    await onPage(url);
    await payments.waitFor(reference, ({ attention }) => attention !== null);
    await allDelivered(cluster, reference, ['charge.requires_action']);
    const { store, starter } = service.deps.charges;
    const charge = await store.byReference(tenant.id, reference);
    if (!charge) throw new Error(`there is no ${reference}`);
    const half = { amount_minor: PAID_MINOR / 2, session_id: null, force: false };
    const accept = () =>
      starter.command(charge, 'complete', { actor: 'ada', reason: 'they agree', ...half });
    const { answer } = await cluster.dies([{ who: 'worker', point }], () =>
      // Not awaited, because the command is answered only after the worker has restarted.
      Promise.resolve({ answer: accept().catch(() => null) }),
    );
    // A command without an answer is repeated, and so is one that was not done because the answer of the provider was lost.
    if ((await answer)?.done !== true) expect(await accept()).toMatchObject({ done: true });
    await cluster.isNotified(reference, ['charge.completed', 'charge.requires_action']);
    await gained(cluster, before, PAID_MINOR / 2 - HALF_FEE_MINOR);
    expect(await payments.get(reference)).toMatchObject({ status: 'completed', attention: null });
    expect(await kindsOf(cluster, reference)).toEqual(['charged']);
  },
});

/** The event of the payment is the first one, and that of its fee the second one. */
const FEE_DEATHS: readonly (readonly Death[])[] = [
  [{ who: 'api', point: 'provider_event.stored:2' }],
  [{ who: 'api', point: 'provider_event.applied:2' }],
  [
    { who: 'api', point: 'provider_event.stored:2' },
    { who: 'worker', point: 'provider_event.applied' },
  ],
];

export const chargeEnds: Case[] = [
  ...FEE_DEATHS.map(feeLater),
  ...['commit.before', 'commit.after', 'charge.answered', 'commit.before:2', 'commit.after:2'].map(
    (point) => cancelled([{ who: 'api', point }]),
  ),
  // The points from the application of the operator's outcome on.
  ...[...VERIFY_POINTS, ...instructionPoints().slice(2)].map(accepted),
];
