import { changesOf } from '../../support/cards.js';
import { eventually } from '../../support/eventually.js';
import { BOOKING_DEATHS, namesOf, type Case } from './capability.js';
import type { Cluster, Death } from './cluster.js';

/** A card of its own that nobody locks. */
async function newCard(cluster: Cluster): Promise<string> {
  const { id } = await cluster.cards.issue();
  await cluster.isQuiet();
  return id;
}

/** The issuer locks a card, or ends its lock, while a process dies. It is so here, and the tenant is told once. */
const byIssuer = (to: 'locked' | 'active', deaths: readonly Death[]): Case => ({
  name: `a card that its issuer sets to ${to}: ${namesOf(deaths)}`,
  async run(cluster) {
    const { cards, service } = cluster;
    const id = await newCard(cluster);
    if (to === 'active') {
      await service.bank.changeCard(id, 'locked');
      await cards.waitFor(id, 'locked');
      await cluster.isNotified(id, ['card.issued', 'card.locked']);
      await cluster.isQuiet();
    }
    await cluster.dies(deaths, () => service.bank.changeCard(id, to));
    const { locked_by } = await cards.waitFor(id, to);
    expect(locked_by).toEqual(to === 'locked' ? ['issuer'] : []);
    const lifted = to === 'active' ? ['card.unlocked'] : [];
    await cluster.isNotified(id, ['card.issued', 'card.locked', ...lifted]);
    await cluster.isQuiet();
    expect(await changesOf(service, id)).toEqual([]);
  },
});

/** The worker dies while the issuer is told of an operator's lock: it is in force here, and once at the issuer. */
const byOperator = (point: string): Case => ({
  name: `a card that an operator locks: the worker dies at ${point}`,
  async run(cluster) {
    const { cards, service } = cluster;
    const id = await newCard(cluster);
    const card = await service.deps.cards.store.find(id);
    if (!card) throw new Error(`there is no ${id}`);
    const { setOperatorLock } = service.deps.cardStates;
    await cluster.dies([{ who: 'worker', point }], () =>
      setOperatorLock(card, { actor: 'ada', reason: 'fraud' }),
    );
    await eventually(`${id} is locked at the issuer`, async () =>
      (await changesOf(service, id)).length > 0 ? true : undefined,
    );
    await cluster.isNotified(id, ['card.issued', 'card.locked']);
    await cluster.isQuiet();
    expect(await cards.get(id)).toMatchObject({ status: 'locked', locked_by: ['operator'] });
    expect(await changesOf(service, id)).toEqual(['card_locked']);
  },
});

export const cardLocks: Case[] = [
  ...BOOKING_DEATHS.flatMap((deaths) => [byIssuer('locked', deaths), byIssuer('active', deaths)]),
  ...['submit.permitted', 'submit.answered', 'outcome.before', 'outcome.after'].map(byOperator),
];
