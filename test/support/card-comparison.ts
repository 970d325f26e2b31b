import { desiredAtIssuer, type Card } from '../../src/capabilities/cards/record.js';
import { FUNDING_TYPES, type CardOperation } from '../../src/capabilities/cards/card-operation.js';
import type { Database } from '../../src/platform/database/client.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import type { JournalEntry } from './bank.js';
import { checkMoney, type Comparison } from './journal.js';

const ISSUER_CARD_STATES: Partial<Record<JournalEntry['kind'], Card['state_control']['desired']>> =
  {
    card_opened: 'open',
    card_locked: 'locked',
    card_closed: 'closed',
    opened_by_issuer: 'open',
    closed_by_issuer: 'closed',
  };

/** Compares cards and their fundings with the effects at the issuer. */
export async function compareCards(
  { db }: Database,
  journal: readonly JournalEntry[],
): Promise<Comparison> {
  const cards = await db.collection<Card>('cards').find().toArray();
  const operations = await db.collection<CardOperation>('card_operations').find().toArray();
  const authorizations = await db.collection('card_authorizations').find().toArray();
  const ids = new Set([...cards, ...operations].map(({ _id }) => _id));
  const tokens = new Set(authorizations.map(({ token }) => String(token)));
  const fundReversals = new Map(operations.map((one) => [one.reverses_operation_id, one]));
  const open = new Set(operations.filter(isOpen).map(({ card_id: card }) => card));
  const fundings = operations.filter(({ type }) =>
    (FUNDING_TYPES as readonly string[]).includes(type),
  );
  return {
    // Only the issuer may know a declined authorization.
    knows: ({ reference, client_reference: card, kind }) =>
      ids.has(reference) || (ids.has(card) && (tokens.has(reference) || kind === 'declined')),
    problems: [
      ...cards.flatMap((card) => checkIssuing(card, journal)),
      // While an operation is open, the card may be in either state.
      ...cards.filter(({ _id }) => !open.has(_id)).flatMap((card) => checkCardState(card, journal)),
      ...fundings.flatMap((funding) => {
        // After its deadline a funding ends as its fund reversal does.
        const { status } = fundReversals.get(funding._id) ?? funding;
        const amountMinor = funding.settled_amount_minor ?? funding.amount_minor ?? 0n;
        const money = { id: funding._id, status, amountMinor };
        return checkMoney(money, journal, ['funded', 'funding_reversed']);
      }),
      ...operations
        .filter(({ type }) => type === 'unload')
        .flatMap((unload) => checkUnload(unload, journal)),
    ],
    clearingMinor: 0n,
    feesMinor: 0n,
  };
}

function checkIssuing({ _id: id, status }: Card, journal: readonly JournalEntry[]): string[] {
  const issued = journal.filter(
    ({ reference, kind }) => reference === id && kind === 'issued',
  ).length;
  if (issued > 1) return [`${id} was issued ${issued} times`];
  if (status === 'failed' && issued === 1) return [`${id} is failed and issued`];
  if (status !== 'failed' && status !== 'pending' && issued === 0)
    return [`${id} is ${status} and not issued`];
  return [];
}

/** A part that the issuer has taken back may be booked, or wait for an operator. */
function checkUnload(
  { _id: id, status, attention, ...unload }: CardOperation,
  journal: readonly JournalEntry[],
): string[] {
  const takenMinor = unload.taken_back_minor ?? 0n;
  const booked = unload.settled_amount_minor ?? unload.amount_minor ?? 0n;
  const of = (wanted: JournalEntry['kind']) =>
    journal.filter(({ reference, kind }) => reference === id && kind === wanted);
  const back = of('unload_reversed').map(({ amount_minor: minor }) => BigInt(minor));
  const backMinor = back.reduce((sum, minor) => sum + minor, 0n);
  const isPart = status === 'completed' && back.length > 0 && backMinor < booked + takenMinor;
  const whole = journal.filter(({ kind }) => kind !== 'unload_reversed');
  const problems = checkMoney(
    { id, status, amountMinor: booked + takenMinor },
    isPart ? whole : journal,
    ['unloaded', 'unload_reversed'],
  );
  return isPart && backMinor !== takenMinor && attention === null
    ? [...problems, `${id}: ${backMinor} was taken back, ${takenMinor} is booked`]
    : problems;
}

const BY_ISSUER = new Set<string>(['locked_by_issuer', 'opened_by_issuer', 'closed_by_issuer']);

function checkCardState(card: Card, journal: readonly JournalEntry[]): string[] {
  const { _id: id, locks } = card;
  const last = journal
    .filter(({ reference }) => reference === id)
    .findLast(({ kind }) => ISSUER_CARD_STATES[kind] !== undefined);
  const state = (last && ISSUER_CARD_STATES[last.kind]) ?? 'open';
  const wanted = desiredAtIssuer(card);
  const changes = journal.filter(({ reference, kind }) => reference === id && BY_ISSUER.has(kind));
  const isLocked = changes.at(-1)?.kind === 'locked_by_issuer';
  // Beneath a lock of the issuer the client's own state is not changed for good: the end of the lock sets it again.
  const isRight = isLocked && state !== 'closed' ? wanted !== 'closed' : state === wanted;
  return [
    ...(isRight ? [] : [`${id} is ${state} at the issuer, wanted ${wanted}`]),
    ...(isLocked === (locks.issuer !== null) || wanted === 'closed'
      ? []
      : [`${id}: the issuer's lock is ${isLocked}, here ${locks.issuer !== null}`]),
  ];
}
