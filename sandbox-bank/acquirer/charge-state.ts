import type { Behaviour } from '../shared/behaviours.js';
import type { Effect, JournalEffects } from '../shared/journal-effects.js';
import {
  addToIndex,
  createNumberedRecords,
  newRecordAt,
  type NumberedRecord,
} from '../shared/numbered-records.js';
import { chargeBehaviour, feeMinor, isRedirected, pageBehaviour } from './behaviours.js';
import { paymentMethodOf, type PaymentMethod } from './payment-methods.js';
import type { Channel, ChargeRequest, Decline, AcquirerRecord } from './records.js';

/** A reusable authorization that a paid page grants; later charges name it. */
export type Authorization = {
  code: string;
  /** The number of the charge whose page granted it. */
  by: number;
  channel: Channel;
  choice: PaymentMethod;
  grantedAt: number;
  revoked: boolean;
};

/** `open`: the customer has not chosen a payment method yet. */
export type ChargeStatus =
  'open' | 'pending' | 'paid' | 'saved' | 'declined' | 'abandoned' | 'cancelled';

/** A charge as replayed from the journal. */
export type Charge = NumberedRecord<ChargeRequest, ChargeStatus> & {
  accessCode: string | null;
  choice: PaymentMethod | null;
  paidMinor: number | null;
  /** The acquirer's fee; null as long as nobody knows it. */
  feeMinor: number | null;
  decline: Decline | null;
  authorization: Authorization | null;
  /** The acquirer has said what its unknown word means. */
  isClarified: boolean;
};

/** True if the page of this charge saves a payment method, and nothing is paid. */
export const isSetup = ({ order }: Pick<Charge, 'order'>): boolean =>
  'channel' in order && order.setup === true;

/** True as long as the customer may choose on the page, also after having gone away from it. */
export const isUnpaidPage = ({ status }: Pick<Charge, 'status'>): boolean =>
  status === 'open' || status === 'abandoned';

/** The means of payment on the page of a charge; null if it has no page. */
export const channelOf = ({ order, accessCode, authorization }: Charge): Channel | null =>
  'channel' in order
    ? order.channel
    : accessCode === null
      ? null
      : (authorization?.channel ?? null);

/** The acquirer's charges and authorizations. */
export type ChargeState = ReturnType<typeof createChargeState>;

type Recorded = Extract<AcquirerRecord, { charge: number }>;
type Change = Exclude<Recorded, { kind: 'charge_ordered' }>;

/** Holds charges, and the authorizations that their pages granted. */
export function createChargeState(effects: JournalEffects) {
  const charges = createNumberedRecords<Charge>();
  const byReference = new Map<string, Charge[]>();
  const byClientReference = new Map<string, Charge[]>();
  const byAccessCode = new Map<string, Charge>();
  const authorizations = new Map<string, Authorization>();
  const cancelled = new Set<string>();

  function behaviourOf(order: ChargeRequest): Behaviour {
    if ('channel' in order) return pageBehaviour(order.client_reference);
    const later = authorizations.get(order.authorization)?.choice.later ?? 'done';
    return chargeBehaviour(order.client_reference, later);
  }

  function add(record: Extract<Recorded, { kind: 'charge_ordered' }>): void {
    const { charge: number, order, access_code: accessCode, at } = record;
    const isPage = 'channel' in order;
    const behaviour = behaviourOf(order);
    const charge: Charge = {
      number,
      order,
      behaviour,
      status: isPage || isRedirected(behaviour) ? 'open' : 'pending',
      ...newRecordAt(at),
      accessCode,
      authorization: isPage ? null : (authorizations.get(order.authorization) ?? null),
      choice: null,
      paidMinor: null,
      feeMinor: null,
      decline: null,
      isClarified: false,
    };
    charges.add(charge);
    addToIndex(byReference, order.reference, charge);
    addToIndex(byClientReference, order.client_reference, charge);
    if (accessCode !== null) byAccessCode.set(accessCode, charge);
  }

  return {
    all: charges.all,
    get: charges.get,
    behaviourOf,
    /** Oldest first; more than one only if the acquirer does not de-duplicate. */
    withReference: (reference: string): readonly Charge[] => byReference.get(reference) ?? [],
    withClientReference: (reference: string): readonly Charge[] =>
      byClientReference.get(reference) ?? [],
    withAccessCode: (code: string) => byAccessCode.get(code),
    authorization: (code: string) => authorizations.get(code),
    isCancelled: (reference: string) => cancelled.has(reference),
    cancelReference: (reference: string): void => void cancelled.add(reference),
    apply(record: Recorded): void {
      if (record.kind === 'charge_ordered') return add(record);
      const charge = charges.get(record.charge);
      change(charge, record);
      if ('granted' in record && record.granted && charge.authorization) {
        authorizations.set(charge.authorization.code, charge.authorization);
      }
      if ('seq' in record) effects.add(effectOf(charge, record));
    },
  };
}

function change(charge: Charge, record: Change): void {
  if (record.kind === 'authorization_revoked') {
    if (charge.authorization) charge.authorization.revoked = true;
    return;
  }
  charge.updatedAt = record.at;
  switch (record.kind) {
    case 'charge_chosen':
      Object.assign(charge, { status: 'pending', choice: choose(charge, record.choice) });
      return;
    case 'charged':
      Object.assign(charge, {
        status: 'paid',
        decline: null,
        paidMinor: record.amount_minor,
        feeMinor: feeOf(charge, record.amount_minor),
      });
      if (record.granted) charge.authorization = grant(charge, record.granted, record.at);
      return;
    case 'fee_told':
      charge.feeMinor = record.fee_minor;
      return;
    case 'charge_declined':
      Object.assign(charge, { status: 'declined', decline: record.decline });
      return;
    case 'page_declined':
      charge.decline = record.decline;
      return;
    case 'charge_abandoned':
      charge.status = 'abandoned';
      return;
    case 'charge_cancelled':
      charge.status = 'cancelled';
      return;
    case 'charge_clarified':
      charge.isClarified = true;
      return;
    case 'setup_saved':
      Object.assign(charge, { status: 'saved', decline: null });
      charge.authorization = grant(charge, record.granted, record.at);
      return;
    default:
      throw new Error('the journal has an unknown kind of record');
  }
}

/** The fee of a payment: null as long as nobody knows it, and 0 if the customer pays it on top. */
function feeOf({ behaviour }: Charge, paid: number): number | null {
  if (behaviour === 'fee_later') return null;
  return behaviour === 'surcharged' ? 0 : feeMinor(paid);
}

function grant(
  charge: Charge,
  granted: { authorization: string; choice: string },
  grantedAt: number,
): Authorization | null {
  const { number: by, order } = charge;
  if (!('channel' in order)) return null;
  const choice = choose(charge, granted.choice);
  const { channel } = order;
  return { code: granted.authorization, by, channel, choice, grantedAt, revoked: false };
}

function choose(charge: Charge, id: string): PaymentMethod {
  const channel = channelOf(charge);
  const choice = channel ? paymentMethodOf(channel, id) : undefined;
  if (!choice) throw new Error('the journal names a choice that there is not');
  return choice;
}

function effectOf({ order }: Charge, record: Extract<Change, { seq: number }>): Effect {
  const { kind, seq, at } = record;
  const { reference, client_reference, currency } = order;
  const amount_minor = record.kind === 'charged' ? record.amount_minor : null;
  const about = { reference, client_reference, amount_minor, currency };
  return { seq, kind, ...about, session_id: null, card: null, at };
}
