import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import {
  authorizationId,
  newAuthorization,
  type CardAuthorization,
} from '../src/capabilities/card-authorizations/record.js';
import type { Card } from '../src/capabilities/cards/record.js';
import { timelineEntry } from '../src/core/instructions/instruction.js';
import { newId } from '../src/shared/ids.js';
import { DAY_MS } from '../src/shared/durations.js';
import { whole } from './support.js';

/** Documents in one insertMany, and those under way at once. */
const INSERT = 2_500;
const AT_ONCE = 2;
const DAYS = 365;
const HOLD_MS = 7 * DAY_MS;

/**
 * Inserts cards like this one, and payments of them that were approved and cleared within the last year, with all indexes of
 * the collections. The inserts are direct: the bench measures decisions beside these documents, so they have no postings.
 * Returns the issuer's ids of the cards.
 */
export async function seedCards(
  db: Db,
  like: Card,
  { cards, authorizations }: { cards: number; authorizations: number },
): Promise<string[]> {
  const fast = { writeConcern: { w: 1, journal: false } } as const;
  const made = Array.from({ length: cards }, (_, number) => cardLike(like, number));
  await insert(db.collection<Card>('cards', fast), cards, (number) => made[number] ?? like);
  const since = Date.now() - DAYS * DAY_MS;
  await insert(
    db.collection<CardAuthorization>('card_authorizations', fast),
    authorizations,
    (number) => {
      // One after the other in time, as they came in, and each card in turn.
      const at = new Date(since + Math.floor((number / authorizations) * (DAYS - 1) * DAY_MS));
      return clearedAuthorization(made[number % cards] ?? like, at);
    },
  );
  return made.map(({ issued }) => issued?.issuer_card_id ?? '');
}

const cardLike = (like: Card, number: number): Card => ({
  ...like,
  _id: newId('card'),
  customer_id: `bench-${number}`,
  issued: like.issued && { ...like.issued, issuer_card_id: randomUUID() },
});

function clearedAuthorization(
  { _id: card, tenant_id: tenantId, provider }: Card,
  at: Date,
): CardAuthorization {
  const [token, messageId, amountMinor] = [randomUUID(), randomUUID(), 5_000n];
  const id = authorizationId(provider, token);
  const message = { message_id: messageId, amount_minor: amountMinor };
  const fact = { amount_minor: amountMinor, at };
  return {
    ...newAuthorization({ tenantId, id, card, provider, token }, null, at),
    version: 2,
    event_sequence: 2,
    status: 'cleared',
    approved: true,
    code: 'approved',
    messages: [
      {
        ...message,
        kind: 'authorization',
        available_minor: null,
        approved: true,
        code: 'approved',
        request_ids: [randomUUID()],
      },
    ],
    amount_minor: amountMinor,
    cleared_minor: amountMinor,
    payments: [{ from: 'wallet', minor: amountMinor }],
    channel: 'pos',
    merchant: { name: 'Mama Put', category: '5812', country: 'NG' },
    facts: [
      { ...fact, ...message, kind: 'approved', key: messageId, held_minor: 0n, stand_in: null },
      { ...fact, kind: 'cleared', key: randomUUID(), final: true },
    ],
    expires_at: new Date(at.getTime() + HOLD_MS),
    timeline: [
      timelineEntry(at, 'accepted', 'issuer', { detail: 'approved' }),
      timelineEntry(at, 'captured', 'issuer', { detail: 'cleared' }),
    ],
  };
}

/** Inserts so many documents, some batches at once, and says how far it is. */
async function insert<Document extends { _id: string }>(
  collection: Collection<Document>,
  count: number,
  make: (number: number) => Document,
): Promise<void> {
  let next = 0;
  const runner = async (): Promise<void> => {
    while (next < count) {
      const from = next;
      next = Math.min(count, from + INSERT);
      const batch = Array.from({ length: next - from }, (_, i) => make(from + i));
      await collection.insertMany(batch as never, { ordered: false });
      process.stderr.write(`\r${collection.collectionName}: ${whole(next)} of ${whole(count)} `);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runner));
  process.stderr.write('\n');
}
