import { randomBytes } from 'node:crypto';
import { isDoneAtOnce } from '../behaviours.js';
import { findBank } from '../directory.js';
import type { Kind } from '../request-handler.js';
import { declineOf } from './behaviours.js';
import type { ChargeBooks } from './charge-outcomes.js';
import type { Charge, ChargeState } from './charge-state.js';
import type { NetworkParts } from './context.js';
import type { AuthorizedOrder, ChargeOrder, Decline, NetworkRecord, PageOrder } from './records.js';

type Present = (charge: Charge) => unknown;

/** Charges with a page, as an intake takes them. */
export function pageKind(
  { state: { charges }, journal }: NetworkParts,
  present: Present,
): Kind<PageOrder, Charge> {
  return {
    ...common(charges),
    isSame: ({ order }, repeated) => isSamePage(order, repeated),
    take(order, at) {
      const number = charges.all.length;
      const access_code = randomBytes(16).toString('hex');
      const outcome: NetworkRecord[] = [];
      if (!isReachable(order)) {
        const decline: Decline = { code: 'no_such_account', decline: 'hard' };
        outcome.push({ kind: 'charge_declined', charge: number, decline, at });
      }
      const ordered = { kind: 'charge_ordered', charge: number, order, access_code, at } as const;
      journal.commit([ordered, ...outcome]);
      return charges.get(number);
    },
    present,
  };
}

/** Charges without the customer, likewise. */
export function authorizedKind(
  { state: { charges }, journal }: NetworkParts,
  books: ChargeBooks,
  present: Present,
): Kind<AuthorizedOrder, Charge> {
  return {
    ...common(charges),
    isSame: ({ order }, repeated) => isSameCharge(order, repeated),
    take(order, at) {
      const number = charges.all.length;
      const behaviour = charges.behaviourOf(order);
      const decline =
        refusalOf(charges, order) ?? declineOf(behaviour, declinedBefore(charges, order));
      const outcome: NetworkRecord[] = [];
      if (decline) outcome.push({ kind: 'charge_declined', charge: number, decline, at });
      else if (isDoneAtOnce(behaviour)) {
        outcome.push(books.charged({ number, order, behaviour }, null, at));
      }
      const ordered = { kind: 'charge_ordered', charge: number, order, access_code: null } as const;
      journal.commit([{ ...ordered, at }, ...outcome]);
      const charge = charges.get(number);
      books.scheduleWhatIsDue(charge);
      return charge;
    },
    present,
  };
}

function common(charges: ChargeState) {
  return {
    what: 'charge',
    find: ({ reference }: ChargeOrder) => charges.withReference(reference)[0],
    behaviourOf: charges.behaviourOf,
    keyOf: ({ reference }: ChargeOrder) => `charge/${reference}`,
  };
}

function refusalOf(charges: ChargeState, order: AuthorizedOrder): Decline | null {
  const authorization = charges.authorization(order.authorization);
  if (!authorization) return { code: 'authorization_not_found', decline: 'hard' };
  if (authorization.revoked) return { code: 'authorization_revoked', decline: 'hard' };
  const { reusable } = authorization.choice;
  return reusable ? null : { code: 'authorization_not_reusable', decline: 'hard' };
}

/** Attempts at one charge have the client's reference and the authorization in common. */
function declinedBefore(charges: ChargeState, wanted: AuthorizedOrder): number {
  return charges
    .withClientReference(wanted.client_reference)
    .filter(({ status }) => status === 'declined')
    .filter(({ order }) => 'authorization' in order && order.authorization === wanted.authorization)
    .length;
}

function isReachable({ channel }: PageOrder): boolean {
  return channel.type === 'card' || findBank(channel.bank_code) !== undefined;
}

function isSamePage(order: ChargeOrder, repeated: PageOrder): boolean {
  return (
    'channel' in order &&
    order.client_reference === repeated.client_reference &&
    order.amount_minor === repeated.amount_minor &&
    order.customer.id === repeated.customer.id &&
    order.return_url === repeated.return_url &&
    JSON.stringify(order.channel) === JSON.stringify(repeated.channel)
  );
}

function isSameCharge(order: ChargeOrder, repeated: AuthorizedOrder): boolean {
  return (
    'authorization' in order &&
    order.client_reference === repeated.client_reference &&
    order.amount_minor === repeated.amount_minor &&
    order.authorization === repeated.authorization
  );
}
