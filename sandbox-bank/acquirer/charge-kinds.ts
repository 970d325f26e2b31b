import { randomBytes } from 'node:crypto';
import { isExecutedAtOnce, type Behaviour } from '../shared/behaviours.js';
import { findBank } from '../shared/directory.js';
import type { RequestKind } from '../shared/request-handler.js';
import { declineOf, isRedirected } from './behaviours.js';
import type { ChargeOutcomes } from './charge-outcomes.js';
import type { Charge, ChargeState } from './charge-state.js';
import type { AcquirerContext } from './context.js';
import type {
  AuthorizedChargeRequest,
  ChargeRequest,
  Decline,
  AcquirerRecord,
  ChargePageRequest,
} from './records.js';

type Present = (charge: Charge) => unknown;

/** Describes charges with a page to the request handler. */
export function chargePageRequestKind(
  { state: { charges }, journal }: AcquirerContext,
  present: Present,
): RequestKind<ChargePageRequest, Charge> {
  return {
    ...common(charges),
    isSame: ({ order }, repeated) => isSamePage(order, repeated),
    accept(order, at) {
      const number = charges.all.length;
      const access_code = randomBytes(16).toString('hex');
      const outcome: AcquirerRecord[] = [];
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

/** Describes charges without the customer to the request handler. */
export function authorizedChargeRequestKind(
  { state: { charges }, journal }: AcquirerContext,
  outcomes: ChargeOutcomes,
  present: Present,
): RequestKind<AuthorizedChargeRequest, Charge> {
  return {
    ...common(charges),
    isSame: ({ order }, repeated) => isSameCharge(order, repeated),
    accept(order, at) {
      const number = charges.all.length;
      const behaviour = charges.behaviourOf(order);
      const decline =
        refusalOf(charges, order) ?? declineOf(behaviour, declinedBefore(charges, order));
      const outcome: AcquirerRecord[] = [];
      const redirected = isRedirected(behaviour);
      if (decline) outcome.push({ kind: 'charge_declined', charge: number, decline, at });
      else if (isExecutedAtOnce(behaviour) && !redirected) {
        outcome.push(outcomes.charged({ number, order, behaviour }, null, at));
      }
      const access_code = redirected ? randomBytes(16).toString('hex') : null;
      const ordered = { kind: 'charge_ordered', charge: number, order, access_code } as const;
      const revoked = revocationOf(charges, order, behaviour);
      if (revoked) outcome.push({ ...revoked, seq: journal.nextSeq(), at });
      journal.commit([{ ...ordered, at }, ...outcome]);
      const charge = charges.get(number);
      outcomes.scheduleNextOutcome(charge);
      return charge;
    },
    present,
  };
}

function common(charges: ChargeState) {
  return {
    what: 'charge',
    find: ({ reference }: ChargeRequest) => charges.withReference(reference).at(-1),
    behaviourOf: charges.behaviourOf,
    keyOf: ({ reference }: ChargeRequest) => `charge/${reference}`,
  };
}

function refusalOf(charges: ChargeState, order: AuthorizedChargeRequest): Decline | null {
  const authorization = charges.authorization(order.authorization);
  if (!authorization) return { code: 'authorization_not_found', decline: 'hard' };
  if (authorization.revoked) return { code: 'authorization_revoked', decline: 'hard' };
  const { reusable } = authorization.choice;
  return reusable ? null : { code: 'authorization_not_reusable', decline: 'hard' };
}

/** The record of a payment method that is revoked by the attempt to charge it; null if it is not, or is already. */
function revocationOf(
  charges: ChargeState,
  { authorization: code }: AuthorizedChargeRequest,
  behaviour: Behaviour,
) {
  const authorization = charges.authorization(code);
  if (behaviour !== 'method_revoked' || !authorization || authorization.revoked) return null;
  return { kind: 'authorization_revoked', charge: authorization.by } as const;
}

/** Counts declined attempts at one charge: those with the same client reference and authorization. */
function declinedBefore(charges: ChargeState, wanted: AuthorizedChargeRequest): number {
  return charges
    .withClientReference(wanted.client_reference)
    .filter(({ status }) => status === 'declined')
    .filter(({ order }) => 'authorization' in order && order.authorization === wanted.authorization)
    .length;
}

function isReachable({ channel }: ChargePageRequest): boolean {
  return channel.type === 'card' || findBank(channel.bank_code) !== undefined;
}

function isSamePage(order: ChargeRequest, repeated: ChargePageRequest): boolean {
  return (
    'channel' in order &&
    order.client_reference === repeated.client_reference &&
    order.amount_minor === repeated.amount_minor &&
    order.customer.id === repeated.customer.id &&
    order.return_url === repeated.return_url &&
    order.setup === repeated.setup &&
    JSON.stringify(order.channel) === JSON.stringify(repeated.channel)
  );
}

function isSameCharge(order: ChargeRequest, repeated: AuthorizedChargeRequest): boolean {
  return (
    'authorization' in order &&
    order.client_reference === repeated.client_reference &&
    order.amount_minor === repeated.amount_minor &&
    order.authorization === repeated.authorization
  );
}
