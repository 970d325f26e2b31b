import { collection } from '../../core/commit/collection.js';
import { lagosDay } from '../../core/ledger/wallet.js';
import type { IssuerCardState } from '../../core/providers/card-issuer.js';

/** The status of a card. */
export type CardStatus = 'pending' | 'active' | 'locked' | 'failed' | 'expired' | 'closed';

/** A card as it is stored. Amounts are in kobo. Card numbers and security codes are never stored. */
export type Card = {
  _id: string;
  tenant_id: string;
  version: number;
  /** The sequence number of the card's latest webhook event; 0 before the first. */
  event_sequence: number;
  /** The tenant's own id of the card holder. */
  customer_id: string;
  type: 'virtual' | 'physical';
  /** Authorizations of a `prepaid` card spend the card's balance; those of a `jit` card may also be held in the wallet. */
  funding: 'prepaid' | 'jit';
  currency: 'NGN';
  /** The name to print. Personal data: only the issuer and the tenant receive it. */
  name: string | null;
  metadata: Record<string, unknown> | null;
  status: CardStatus;
  provider: string;
  /** The issuer's data of the card; null until it has issued the card. */
  issued: {
    issuer_card_id: string;
    brand: string;
    last4: string;
    expiry_month: number;
    expiry_year: number;
  } | null;
  /** The balances of the card's accounts: the spendable amount, and the amount held by authorizations. */
  available_minor: bigint;
  held_minor: bigint;
  /** The number of authorizations of the card with a hold, on the card or in the wallet. */
  open_holds: number;
  state_control: CardStateControl;
  locks: CardLocks;
  /** The party that keeps changes of the state in order, as the issuer declared it when the card was created. */
  state_sequence: 'issuer' | 'ours';
  security: CardSecurity;
  auto_reload: AutoReload | null;
  /** The holder of the balance at the issuer, as the issuer declared it when the card was created. */
  balances: 'issuer' | 'ours';
  unload: CardUnload;
  /** The amount approved on `day`, a day in Africa/Lagos. */
  daily_spend: { day: string; minor: bigint };
  failure: { code: string; message: string } | null;
  created_at: Date;
  updated_at: Date;
};

/**
 * The state that the issuer must set. `sequence` is incremented by every accepted lock, unlock and closing;
 * `confirmed_sequence` is the latest one that the issuer has confirmed. `pending_operation_id` is the open operation.
 */
type CardStateControl = {
  desired: IssuerCardState;
  sequence: number;
  confirmed_sequence: number;
  pending_operation_id: string | null;
  /** Since when a request to the issuer may be executed late, so that the state must be read once more; null: none may. */
  doubted_at: Date | null;
  /** The time of the latest change that the issuer has reported; earlier ones are outdated. */
  reported_at: Date | null;
};

/** The locks of others than the tenant. An issuer's lock is lifted by the issuer alone, an operator's by operators. */
export type CardLocks = {
  issuer: { since: Date } | null;
  operator: { since: Date; actor: string; reason: string } | null;
};

/** No locks. */
export const NO_LOCKS: CardLocks = { issuer: null, operator: null };

/**
 * How the balance of a closed or expired card returns to the wallet: the issuer must give it back first. `operation_id` is
 * the open unloading. After one that gave back less than the balance, none is made until an operator asks for it; it is
 * `failed_operation_id`.
 */
export type CardUnload = {
  operation_id: string | null;
  failed_operation_id: string | null;
  /** The tenant's reference for the next unloading, from the closing of the card. */
  transaction_reference: string | null;
};

/** No unloading. */
export const NO_UNLOAD: CardUnload = {
  operation_id: null,
  failed_operation_id: null,
  transaction_reference: null,
};

/** The tenant's limits on authorizations. Null and empty lists mean no limit. */
export type CardSecurity = {
  channels: { online: boolean; pos: boolean; atm: boolean; contactless: boolean };
  per_transaction_limit_minor: bigint | null;
  daily_limit_minor: bigint | null;
  /** ISO 3166, two letters. */
  allowed_countries: string[];
  /** ISO 18245, four digits. */
  blocked_merchant_categories: string[];
};

/** The auto-reload settings of a card, with the state of its reloads. */
export type AutoReload = {
  enabled: boolean;
  threshold_minor: bigint;
  amount_minor: bigint;
  daily_cap_minor: bigint;
  /** True if the current fall below the threshold has had its reload. */
  triggered: boolean;
  /** The open reload. */
  operation_id: string | null;
  /** The number of consecutive refusals. */
  refusals: number;
  attention: { since: Date; reason: string } | null;
  limit_day: string;
  limit_used_minor: bigint;
};

/** The auto-reload settings that a tenant chooses. */
export type AutoReloadSettings = Pick<
  AutoReload,
  'enabled' | 'threshold_minor' | 'amount_minor' | 'daily_cap_minor'
>;
/** The state of auto-reload before the first settings. */
export const NEW_AUTO_RELOAD = {
  triggered: false,
  operation_id: null,
  refusals: 0,
  attention: null,
  limit_day: '',
  limit_used_minor: 0n,
};

/** Security settings without limits. */
export const OPEN_SECURITY: CardSecurity = {
  channels: { online: true, pos: true, atm: true, contactless: true },
  per_transaction_limit_minor: null,
  daily_limit_minor: null,
  allowed_countries: [],
  blocked_merchant_categories: [],
};

type Locked = Pick<Card, 'status' | 'state_control' | 'locks'>;

/** The status of a card after a change of its locks: it is active only if nobody locks it and the issuer has confirmed that. */
export function statusByLocks({ status, state_control: control, locks }: Locked): CardStatus {
  if (status !== 'active' && status !== 'locked') return status;
  const isConfirmed = control.confirmed_sequence === control.sequence;
  const isOpen = control.desired === 'open' && isConfirmed;
  return isOpen && locks.issuer === null && locks.operator === null ? 'active' : 'locked';
}

/** The parties that lock a card; `activation`: it was never unlocked since it was issued. */
export type LockHolder = 'tenant' | 'issuer' | 'operator' | 'activation';

/** The parties that lock a card. None: the issuer has not confirmed the unlock yet. */
export function lockHolders({ status, state_control: control, locks }: Locked): LockHolder[] {
  if (status !== 'locked') return [];
  const own = control.sequence === 0 ? 'activation' : 'tenant';
  return [
    ...(control.desired === 'locked' ? [own as LockHolder] : []),
    ...(locks.issuer ? ['issuer' as const] : []),
    ...(locks.operator ? ['operator' as const] : []),
  ];
}

/** The state that the issuer must set: an operator's lock is one at the issuer too. */
export const desiredAtIssuer = ({
  state_control: { desired },
  locks,
}: Pick<Card, 'state_control' | 'locks'>): IssuerCardState =>
  desired === 'open' && locks.operator ? 'locked' : desired;

/** True for a card that is closed or expired: it declines every payment, and its balance is returned to the wallet. */
export const isTerminal = ({ status }: Pick<Card, 'status'>): boolean =>
  status === 'closed' || status === 'expired';

/** True if the card's last month, in Africa/Lagos, has ended. */
export function isPastExpiry({ issued }: Pick<Card, 'issued'>, now: Date): boolean {
  if (!issued) return false;
  const { year, month } = monthOf(now);
  return issued.expiry_year < year || (issued.expiry_year === year && issued.expiry_month < month);
}

/** The year and month in Africa/Lagos at a time. */
export function monthOf(now: Date): { year: number; month: number } {
  const [year, month] = lagosDay(now).split('-').map(Number);
  return { year: Number(year), month: Number(month) };
}

const long = { bsonType: 'long' };

const ISSUED = { 'issued.issuer_card_id': { $type: 'string' } };

/** The index of the cards of a tenant by time. */
export const CARDS_OF_TENANT = { tenant_id: 1, created_at: -1, _id: -1 } as const;

/** The collection of cards. A unique index begins with the tenant, because the collection may be sharded by it. */
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
    { key: CARDS_OF_TENANT },
    {
      key: { tenant_id: 1, provider: 1, 'issued.issuer_card_id': 1 },
      unique: true,
      partialFilterExpression: ISSUED,
    },
    // The issuer's messages name only the issuer's id.
    { key: { 'issued.issuer_card_id': 1, provider: 1 }, partialFilterExpression: ISSUED },
    { key: { status: 1, 'issued.expiry_year': 1, 'issued.expiry_month': 1 } },
    {
      key: { 'state_control.doubted_at': 1 },
      partialFilterExpression: { 'state_control.doubted_at': { $type: 'date' } },
    },
  ],
  sealed: [{ path: 'name' }],
});
