import type { CardAuthorization } from '../../../../src/capabilities/card-authorizations/record.js';
import type { Card } from '../../../../src/capabilities/cards/record.js';
import type { ProviderEvent } from '../../../../src/core/provider-events/event.js';
import { isShown, type CardOperation } from '../../../../src/capabilities/cards/card-operation.js';
import { checkAuthorizationBooks } from '../../../support/authorization-books.js';
import type { newCard } from '../../../support/cards.js';
import type { SentRequest } from '../requests.js';
import { answersHold, isolated } from '../common-checks.js';
import type { ChaosCluster } from '../cluster.js';
import type { ReceivedWebhooks } from '../received-webhooks.js';

export type NamedBody = { request_id: string } & Record<string, unknown>;

/** Checks the guarantees to clients, and the books of payments. test/support compares the ledger with the issuer's journal. */
export async function checkCards(
  cluster: ChaosCluster,
  received: ReceivedWebhooks,
  issues: readonly SentRequest<ReturnType<typeof newCard>>[],
  requests: readonly SentRequest<NamedBody>[],
  /** Cards that the issuer has changed by itself. */
  byIssuer: ReadonlySet<string>,
): Promise<string[]> {
  const { config, database } = cluster.service.deps;
  const { db } = database;
  const cards = await db.collection<Card>('cards').find().toArray();
  const operations = await db.collection<CardOperation>('card_operations').find().toArray();
  const asFor = <Body extends object>(
    sent: readonly SentRequest<Body>[],
    nameOf: (b: Body) => string,
  ) => sent.map((one) => ({ ...one, body: { ...one.body, reference: nameOf(one.body) } }));
  const payments = await db.collection<CardAuthorization>('card_authorizations').find().toArray();
  const requested = operations.filter(({ request_id }) => request_id !== null);
  return [
    ...answersHold(
      asFor(issues, ({ customer_id }) => customer_id),
      cards.map(({ customer_id: reference, ...card }) => ({ ...card, reference })),
    ),
    ...answersHold(
      asFor(requests, ({ request_id }) => request_id),
      requested.map((one) => ({ ...one, reference: String(one.request_id) })),
    ),
    ...eventProblems(received, cards, operations.filter(isShown), byIssuer),
    ...received.missing([...cards, ...operations, ...payments]),
    ...(await checkAuthorizationBooks(db, config.cards.authorizationTerms)),
    ...(await nothingLeft(cluster, cards)),
    ...(await isolated(cluster, cards, {
      one: (id) => `/cards/${id}`,
      list: '/cards',
      posts: (id) => [
        [`/cards/${id}/lock`, {}],
        [`/cards/${id}/fund`, { amount_minor: 5_000, transaction_reference: 'foreign' }],
      ],
    })),
    ...(await isolated(cluster, requested, {
      one: (id) => `/cards/${requested.find(({ _id }) => _id === id)?.card_id}/operations/${id}`,
    })),
  ];
}

function eventProblems(
  received: ReceivedWebhooks,
  cards: readonly Card[],
  operations: readonly CardOperation[],
  byIssuer: ReadonlySet<string>,
): string[] {
  const unlocks = operations.filter(
    // An unlock without a sequence number found the card open already.
    ({ type, status, state_sequence: number }) =>
      type === 'unlock' && status === 'completed' && number !== null,
  );
  return [
    ...received.wrong(
      'card.operation',
      operations.map((one) => ({ ...one, endings: one.reversed_at === null ? [] : ['completed'] })),
    ),
    ...cards.flatMap((card) => {
      const times = (event: string) => received.times(card.tenant_id, card._id, event);
      const opened = unlocks.filter(({ card_id: id }) => id === card._id).length;
      const events = { unlocked: times('card.unlocked'), locked: times('card.locked') };
      return byIssuer.has(card._id)
        ? sharedLockEventProblems(card, opened, events)
        : lockEventProblems(card, opened, events);
    }),
  ];
}

type LockEvents = { unlocked: number; locked: number };

/** An issuer that lifts its lock opens a card too, and one that locks a locked card has a further event. */
function sharedLockEventProblems(
  { _id, status }: Card,
  opened: number,
  { unlocked, locked }: LockEvents,
): string[] {
  const least = unlocked + (status === 'locked' ? 1 : 0);
  const emitted = `${locked} × card.locked, ${unlocked} × card.unlocked emitted`;
  return unlocked >= opened && locked >= least
    ? []
    : [`${_id} is ${status} and was opened by its tenant ${opened} times: ${emitted}`];
}

/** Each completed unlock has an event; so does each lock, as locks and unlocks alternate. */
function lockEventProblems(
  { _id, status }: Card,
  opened: number,
  { unlocked, locked }: LockEvents,
): string[] {
  const problems: string[] = [];
  if (unlocked !== opened) {
    problems.push(
      `${_id} was opened ${opened} times, and card.unlocked was emitted ${unlocked} times`,
    );
  }
  // A closed card may have been locked or open before.
  const more = status === 'locked' ? [1] : status === 'active' ? [0] : [0, 1];
  if (!more.includes(locked - unlocked)) {
    problems.push(
      `${_id} is ${status}: ${locked} × card.locked, ${unlocked} × card.unlocked emitted`,
    );
  }
  return problems;
}

/** Reports open holds, waiting events, and cards whose issuance never ended. */
async function nothingLeft({ service }: ChaosCluster, cards: readonly Card[]): Promise<string[]> {
  const { db } = service.deps.database;
  const authorizations = await db
    .collection<CardAuthorization>('card_authorizations')
    .find({ $or: [{ held_minor: { $gt: 0n } }, { next_check_at: { $type: 'date' } }] })
    .toArray();
  const events = await db
    .collection<ProviderEvent>('provider_events')
    .find({
      // The bank's unreadable messages are those of the workload `messages`.
      reading: { $ne: 'unreadable' },
      $or: [{ status: { $in: ['received', 'failed'] } }, { next_check_at: { $type: 'date' } }],
    })
    .toArray();
  return [
    ...authorizations.map(({ _id, status }) => `${_id} is ${status} and not at its end`),
    ...events.map(({ _id, event, status, result: outcome, attempt_count: tries }) => {
      return `${_id} (${event}) is ${status} after ${tries} tries: ${outcome}`;
    }),
    ...cards
      .filter((card) => card.status === 'pending' || card.held_minor !== 0n || card.open_holds > 0)
      .map(({ _id, status, open_holds }) => `${_id} is ${status} and has ${open_holds} holds`),
    ...cards
      .filter((card) => card.status === 'closed' && card.available_minor !== 0n)
      .map(({ _id, available_minor }) => `${_id} is closed and has ${available_minor}`),
  ];
}
