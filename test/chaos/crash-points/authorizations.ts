import {
  authorizationId,
  type CardAuthorization,
} from '../../../src/capabilities/card-authorizations/record.js';
import { eventually } from '../../support/eventually.js';
import { afterReceiver, namesOf, type Case } from './capability.js';
import type { Death, Cluster } from './cluster.js';

const AMOUNT_MINOR = 5_000;

const becomes = (cluster: Cluster, token: string, wanted: Partial<CardAuthorization>) =>
  eventually(`the payment is ${JSON.stringify(wanted)}`, async () => {
    const id = authorizationId('sandbox-bank', token);
    const { db } = cluster.service.deps.database;
    const found = await db
      .collection<CardAuthorization>('card_authorizations')
      .findOne({ _id: id });
    return found?.status === wanted.status ? found : undefined;
  });

/** An approved payment that the issuer reports as cleared or as reversed. */
const ended = (end: 'cleared' | 'reversed', deaths: readonly Death[]): Case => ({
  name: `a payment with a card, ${end}: ${namesOf(deaths)}`,
  async run(cluster) {
    const before = await cluster.tenant.balance();
    const { token, approved } = await cluster.issuer.pay(cluster.jitCard);
    expect(approved).toBe(true);
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
];
