import {
  authorizationId,
  type CardAuthorization,
} from '../../../src/capabilities/card-authorizations/record.js';
import { eventually } from '../../support/eventually.js';
import type { PaymentOutcome } from '../../support/issuer.js';
import { afterReceiver, BOOKING_DEATHS, namesOf, type Case } from './capability.js';
import type { Death, Cluster } from './cluster.js';

const AMOUNT_MINOR = 5_000;

const paymentOf = ({ service }: Cluster, token: string) =>
  service.deps.database.db
    .collection<CardAuthorization>('card_authorizations')
    .findOne({ _id: authorizationId('sandbox-bank', token) });

const becomes = (cluster: Cluster, token: string, wanted: Partial<CardAuthorization>) =>
  eventually(`the payment is ${JSON.stringify(wanted)}`, async () => {
    const found = await paymentOf(cluster, token);
    return found?.status === wanted.status ? found : undefined;
  });

const held = (cluster: Cluster, token: string, minor: number) =>
  eventually(`${minor} is held`, async () =>
    (await paymentOf(cluster, token))?.held_minor === BigInt(minor) ? true : undefined,
  );

/** The wallet after a payment, of which it has given `takenMinor` and holds the rest. */
const spent = ({ available }: { available: number }, takenMinor: number, heldMinor = 0) => ({
  available: available - takenMinor - heldMinor,
  held: heldMinor,
});

/** An approved payment of the wallet, and the balance before it. */
async function approvedPayment(cluster: Cluster) {
  const before = await cluster.tenant.balance();
  const { token } = await cluster.approved();
  return { before, token };
}

/** Clears all that is still held, so that no work is left. */
async function cleared(cluster: Cluster, token: string, minor: number): Promise<void> {
  await cluster.issuer.end(token, 'cleared', minor);
  await becomes(cluster, token, { status: 'cleared' });
  await cluster.isQuiet();
}

/** A part of a payment is taken or given up while a process dies: it counts once, and the rest stays held. */
const part = (end: 'cleared' | 'reversed', deaths: readonly Death[]): Case => ({
  name: `a payment with a card, of which a part is ${end}: ${namesOf(deaths)}`,
  async run(cluster) {
    const { before, token } = await approvedPayment(cluster);
    const partMinor = 2_000;
    const restMinor = AMOUNT_MINOR - partMinor;
    const takenMinor = end === 'cleared' ? partMinor : 0;
    await cluster.dies(deaths, () => cluster.issuer.end(token, end, partMinor, { final: false }));
    await held(cluster, token, restMinor);
    expect(await cluster.tenant.balance()).toEqual(spent(before, takenMinor, restMinor));
    await cleared(cluster, token, restMinor);
    expect(await cluster.tenant.balance()).toEqual(spent(before, takenMinor + restMinor));
  },
});

/** Outcomes that a payment has at its issuer after its clearing, and the amount that the wallet has paid in the end. */
type Later = {
  name: string;
  outcomes: readonly (readonly [PaymentOutcome, number])[];
  takenMinor: number;
};
const BACK_MINOR = 1_200;
const LATER: readonly Later[] = [
  {
    name: 'refunded by its merchant',
    outcomes: [['refunded', BACK_MINOR]],
    takenMinor: AMOUNT_MINOR - BACK_MINOR,
  },
  {
    name: 'of which a refund is taken back',
    outcomes: [
      ['refunded', BACK_MINOR],
      ['refund_reversed', BACK_MINOR],
    ],
    takenMinor: AMOUNT_MINOR,
  },
  {
    name: 'of which the clearing is corrected',
    outcomes: [['corrected', -BACK_MINOR]],
    takenMinor: AMOUNT_MINOR - BACK_MINOR,
  },
];

/** Something becomes of a cleared payment while a process dies: who has paid has what returns, once. */
const later = ({ name, outcomes, takenMinor }: Later, deaths: readonly Death[]): Case => ({
  name: `a payment with a card, ${name}: ${namesOf(deaths)}`,
  async run(cluster) {
    const { before, token } = await approvedPayment(cluster);
    await cleared(cluster, token, AMOUNT_MINOR);
    const report = async ([outcome, minor]: Later['outcomes'][number]) => {
      expect(await cluster.issuer.end(token, outcome, minor)).toBe(200);
    };
    for (const one of outcomes.slice(0, -1)) {
      await report(one);
      await cluster.isQuiet();
    }
    await cluster.dies(deaths, () => report(outcomes.at(-1) as Later['outcomes'][number]));
    await costs(cluster, before, takenMinor);
  },
});

/** Waits until the wallet has paid this amount since a balance, and nothing more follows. */
async function costs(cluster: Cluster, before: { available: number }, minor: number) {
  await eventually(`the wallet has paid ${minor}`, async () =>
    (await cluster.tenant.balance()).available === before.available - minor ? true : undefined,
  );
  await cluster.isQuiet();
  expect(await cluster.tenant.balance()).toEqual(spent(before, minor));
}

/** A payment that nobody has asked about is cleared by force while a process dies: it is paid once. */
const forced = (deaths: readonly Death[]): Case => ({
  name: `a payment with a card that nobody has asked about, cleared: ${namesOf(deaths)}`,
  async run(cluster) {
    const before = await cluster.tenant.balance();
    const { token } = await cluster.dies(deaths, () =>
      cluster.issuer.pay(cluster.jitCard, { merchant: { name: 'Toll 008' } }),
    );
    await becomes(cluster, token, { status: 'cleared' });
    await costs(cluster, before, AMOUNT_MINOR);
  },
});

/** The API dies while it decides a payment that is taken at once: it is paid if the issuer counts it as approved, once. */
const atOnce = (point: string): Case => ({
  name: `a payment with a card, taken at once: the api dies at ${point}`,
  async run(cluster) {
    const before = await cluster.tenant.balance();
    const { approved } = await cluster.dies([{ who: 'api', point }], () =>
      cluster.issuer.pay(cluster.jitCard, { kind: 'financial' }),
    );
    await costs(cluster, before, approved ? AMOUNT_MINOR : 0);
  },
});

/** The network approves in our place while a process dies: the amount is held once. */
const stoodIn = (deaths: readonly Death[]): Case => ({
  name: `a payment with a card, approved in our place: ${namesOf(deaths)}`,
  async run(cluster) {
    const before = await cluster.tenant.balance();
    const { token } = await cluster.dies(deaths, () =>
      cluster.issuer.pay(cluster.jitCard, { kind: 'advice', amount_minor: AMOUNT_MINOR }),
    );
    await held(cluster, token, AMOUNT_MINOR);
    expect(await cluster.tenant.balance()).toEqual(spent(before, 0, AMOUNT_MINOR));
    await cleared(cluster, token, AMOUNT_MINOR);
    expect(await cluster.tenant.balance()).toEqual(spent(before, AMOUNT_MINOR));
  },
});

/** The issuer reports nothing: the worker dies while it applies the answer to our question, which has two facts. */
const asked = (deaths: readonly Death[]): Case => ({
  name: `a payment with a card whose end is not reported, and found by a look-up: ${namesOf(deaths)}`,
  async run(cluster) {
    const { before, token } = await approvedPayment(cluster);
    const { issuer, service } = cluster;
    const partMinor = 2_000;
    await issuer.end(token, 'cleared', partMinor, { final: false, report: false });
    await issuer.end(token, 'expired', undefined, { report: false });
    const due = { verify_at: new Date(), next_check_at: new Date() };
    await cluster.dies(deaths, () =>
      service.deps.database.db
        .collection<CardAuthorization>('card_authorizations')
        .updateOne(
          { _id: authorizationId('sandbox-bank', token) },
          { $set: due, $inc: { version: 1 } },
        ),
    );
    await held(cluster, token, 0);
    await becomes(cluster, token, { status: 'cleared' });
    await cluster.isQuiet();
    expect(await cluster.tenant.balance()).toEqual(spent(before, partMinor));
  },
});

/** The API dies while it decides an increment: it is held if the issuer counts it as approved, once, and else not at all. */
const increased = (point: string): Case => ({
  name: `a payment with a card, increased: the api dies at ${point}`,
  async run(cluster) {
    const { before, token } = await approvedPayment(cluster);
    const moreMinor = 1_000;
    const { approved } = await cluster.dies([{ who: 'api', point }], () =>
      cluster.issuer.pay(cluster.jitCard, {
        kind: 'increment',
        amount_minor: moreMinor,
        authorization: token,
      }),
    );
    const wholeMinor = AMOUNT_MINOR + (approved ? moreMinor : 0);
    await held(cluster, token, wholeMinor);
    expect(await cluster.tenant.balance()).toEqual(spent(before, 0, wholeMinor));
    await cleared(cluster, token, wholeMinor);
    expect(await cluster.tenant.balance()).toEqual(spent(before, wholeMinor));
  },
});

/** An approved payment that the issuer reports as cleared or as reversed. */
const ended = (end: 'cleared' | 'reversed', deaths: readonly Death[]): Case => ({
  name: `a payment with a card, ${end}: ${namesOf(deaths)}`,
  async run(cluster) {
    const { before, token } = await approvedPayment(cluster);
    expect(await cluster.tenant.balance()).toEqual({
      available: before.available - AMOUNT_MINOR,
      held: AMOUNT_MINOR,
    });
    await cluster.dies(deaths, () => cluster.issuer.end(token, end));
    await becomes(cluster, token, { status: end });
    await cluster.isQuiet();
    const takenMinor = end === 'cleared' ? AMOUNT_MINOR : 0;
    expect(await cluster.tenant.balance()).toEqual({
      available: before.available - takenMinor,
      held: 0,
    });
  },
});

/** The API dies while it decides. An issuer without an answer declines and reports that, so the hold is released. */
const decided = (point: string): Case => ({
  name: `a payment with a card, asked for: the api dies at ${point}`,
  async run(cluster) {
    const before = await cluster.tenant.balance();
    const { token, approved } = await cluster.dies([{ who: 'api', point }], () =>
      cluster.issuer.pay(cluster.jitCard),
    );
    if (approved) {
      expect((await cluster.tenant.balance()).held).toBe(AMOUNT_MINOR);
      await cluster.issuer.end(token, 'reversed');
      await becomes(cluster, token, { status: 'reversed' });
    }
    await cluster.isQuiet();
    expect(await cluster.tenant.balance()).toEqual(before);
  },
});

/** A payment that exceeds the balance is declined, by us or by the issuer without our answer. Nothing is ever held. */
const declined = (point: string): Case => ({
  name: `a payment with a card, too dear: the api dies at ${point}`,
  async run(cluster) {
    const before = await cluster.tenant.balance();
    const { token, approved } = await cluster.dies([{ who: 'api', point }], () =>
      cluster.issuer.pay(cluster.jitCard, { amount_minor: before.available + 1 }),
    );
    expect(approved).toBe(false);
    // No decision is stored when the API dies before the commit.
    if (point !== 'commit.before') await becomes(cluster, token, { status: 'declined' });
    await cluster.isQuiet();
    expect(await cluster.tenant.balance()).toEqual(before);
  },
});

const APPLYING = ['commit.before', 'commit.after', 'provider_event.applied'];
const DEATHS: readonly (readonly Death[])[] = [
  ...['provider_event.stored', ...APPLYING].map((point) => [{ who: 'api', point } as const]),
  ...['start.before', 'start.after', ...APPLYING].map((point) => afterReceiver(point)),
];

export const authorizations: Case[] = [
  ...DEATHS.flatMap((deaths) => [ended('cleared', deaths), ended('reversed', deaths)]),
  ...['commit.before', 'commit.after', 'decision.made'].map(decided),
  ...['commit.before', 'commit.after', 'decision.made'].map(declined),
  ...['commit.before', 'commit.after', 'decision.made'].map(increased),
  ...['commit.before', 'commit.after', 'decision.made'].map(atOnce),
  ...['commit.before', 'commit.after', 'commit.before:2', 'commit.after:2'].map((point) =>
    asked([{ who: 'worker', point }]),
  ),
  ...BOOKING_DEATHS.flatMap((deaths) => [
    part('cleared', deaths),
    part('reversed', deaths),
    stoodIn(deaths),
    forced(deaths),
    ...LATER.map((one) => later(one, deaths)),
  ]),
];
