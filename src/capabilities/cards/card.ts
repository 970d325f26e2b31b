import { collection } from '../../core/commit/collection.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import type { IssuerCardState } from '../../core/providers/card-issuer.js';

export type CardStatus = 'pending' | 'active' | 'locked' | 'failed' | 'expired' | 'closed';

/** A card as it is stored. Amounts in kobo. Of the card itself only what may be shown: never a number or a code. */
export type Card = {
  _id: string;
  tenant_id: string;
  version: number;
  /** Changes of state so far: the order number of the latest event. Not there before the first. */
  event_sequence?: number;
  /** The tenant's own id of who holds the card. */
  customer_id: string;
  type: 'virtual' | 'physical';
  /** Prepaid: spends what was funded. Just in time: also what the wallet has, held there for each authorization. */
  funding: 'prepaid' | 'jit';
  currency: 'NGN';
  /** To be printed. Personal: it goes to the issuer and to the tenant, and nowhere else. */
  name: string | null;
  metadata: Record<string, unknown> | null;
  status: CardStatus;
  provider: string;
  /** What the issuer told when it issued the card; `card` is its id there. */
  issued: {
    issuer_card_id: string;
    brand: string;
    last4: string;
    expiry_month: number;
    expiry_year: number;
  } | null;
  /** What can be spent, and what authorizations hold of it: the sums of the card's own accounts. */
  available_minor: bigint;
  held_minor: bigint;
  /** Authorizations that hold money, of the card or of the wallet. */
  open_holds: number;
  state_control: CardStateControl;
  security: CardSecurity;
  auto_reload: AutoReload | null;
  /** What was approved on the Africa/Lagos day `day`. */
  daily_spend: { day: string; minor: bigint };
  failure: { code: string; message: string } | null;
  created_at: Date;
  updated_at: Date;
};

/**
 * How the card has to stand at the issuer. `number` grows with every lock, unlock and closing that is accepted;
 * `confirmed` is the one that the issuer has agreed to last. `operation` is the one under way.
 */
export type CardStateControl = {
  desired: IssuerCardState;
  sequence: number;
  confirmed_sequence: number;
  pending_operation_id: string | null;
};

/** What authorizations may be. Null and empty lists: no such bound. */
export type CardSecurity = {
  channels: { online: boolean; pos: boolean; atm: boolean; contactless: boolean };
  per_transaction_limit_minor: bigint | null;
  daily_limit_minor: bigint | null;
  /** ISO 3166, two letters. */
  allowed_countries: string[];
  /** ISO 18245, four digits. */
  blocked_merchant_categories: string[];
};

export type AutoReload = {
  enabled: boolean;
  threshold_minor: bigint;
  amount_minor: bigint;
  daily_cap_minor: bigint;
  /** Whether this fall below the threshold has had its reload. */
  triggered: boolean;
  /** The reload under way. */
  operation_id: string | null;
  /** Refused in a row. */
  refusals: number;
  attention: { since: Date; reason: string } | null;
  limit_day: string;
  limit_used_minor: bigint;
};

export const OPEN_SECURITY: CardSecurity = {
  channels: { online: true, pos: true, atm: true, contactless: true },
  per_transaction_limit_minor: null,
  daily_limit_minor: null,
  allowed_countries: [],
  blocked_merchant_categories: [],
};

/** The end of a card: nothing is spent from it any more, and what is left of it goes back to the wallet. */
export const isTerminal = ({ status }: Pick<Card, 'status'>): boolean =>
  status === 'closed' || status === 'expired';

/** A card is good to the end of its month, in Africa/Lagos. */
export function isPastExpiry({ issued }: Pick<Card, 'issued'>, now: Date): boolean {
  if (!issued) return false;
  const { year, month } = monthOf(now);
  return issued.expiry_year < year || (issued.expiry_year === year && issued.expiry_month < month);
}

/** The Lagos month of a moment. */
export function monthOf(now: Date): { year: number; month: number } {
  const [year, month] = lagosDay(now).split('-').map(Number);
  return { year: Number(year), month: Number(month) };
}

const long = { bsonType: 'long' };

/** Cards. A card is found by our id, and by its id at the issuer. */
export const cards = collection<Card>('cards', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'status', 'available_minor', 'held_minor', 'open_holds'],
    properties: {
      tenant_id: { bsonType: 'string' },
      status: { enum: ['pending', 'active', 'locked', 'failed', 'expired', 'closed'] },
      available_minor: { ...long, minimum: 0 },
      held_minor: { ...long, minimum: 0 },
      open_holds: { bsonType: 'int', minimum: 0 },
      version: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, created_at: -1, _id: -1 } },
    // What the issuer calls it, which is all that its messages say.
    {
      key: { provider: 1, 'issued.issuer_card_id': 1 },
      unique: true,
      partialFilterExpression: { 'issued.issuer_card_id': { $type: 'string' } },
    },
    { key: { status: 1, 'issued.expiry_year': 1, 'issued.expiry_month': 1 } },
  ],
});
