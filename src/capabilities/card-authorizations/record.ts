import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import { createHash } from 'node:crypto';
import { lagosDay } from '../../core/ledger/wallet.js';
import { idOf } from '../../shared/ids.js';
import { uncheckedText } from '../../shared/text.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';
import type { TimelineEntry } from '../../core/instructions/instruction.js';
import { isInForce, type AuthorizationFact } from './facts.js';
import type { AuthorizationKey } from './mutations.js';
import type { Payment } from './payers.js';
import { DAY_MS } from '../../shared/durations.js';

/** The status of an authorization. */
export type AuthorizationStatus =
  'approved' | 'declined' | 'partially_cleared' | 'cleared' | 'reversed' | 'expired';

/** A payment of a cardholder: our decisions on its messages, and the facts about it since. Amounts are in kobo. */
export type CardAuthorization = {
  /** Derived from issuer and token, so that a repeated request finds the first decision. */
  _id: string;
  tenant_id: string;
  version: number;
  /** The sequence number of the latest webhook event; 0 before the first. */
  event_sequence: number;
  card_id: string;
  provider: string;
  /** The issuer's name of the payment, which all messages about it have. */
  token: string;
  status: AuthorizationStatus;
  /** True if any message was approved; later facts do not change it. */
  approved: boolean;
  /** The reason for the decision; of the latest one if none was an approval. */
  code: string;
  /** The decided messages of the issuer, each with a decision of its own. */
  messages: AuthorizationMessage[];
  /** The sum of the approvals, or the requested amount of the first message; zero if only events mention the payment. */
  amount_minor: bigint;
  /** The amount still held, on the card and in the wallet. */
  held_minor: bigint;
  /** The part of it that is held in the wallet. */
  held_wallet_minor: bigint;
  /** The amount taken, and not returned by a reversal. */
  cleared_minor: bigint;
  /** The amount returned by refunds. */
  refunded_minor: bigint;
  /** The amount of the disputes of the payment, without those that were refused or withdrawn. Missing: none. */
  disputed_minor?: bigint;
  /** The part of it that the issuer has given back so far. Missing: none. */
  credited_minor?: bigint;
  /** The part of it that the issuer has given for good or may still give: a lost dispute returns nothing. Missing: none. */
  returnable_minor?: bigint;
  /** The payers of what was taken, in the order of payment; see `payersOf`. */
  payments: Payment[];
  /** The amount that the wallet has paid in place of the card, which had spent it; negative: the card in place of the wallet. Missing: none. */
  card_owes_minor?: bigint;
  /** The party that approved in our place; null if none did. */
  stand_in: 'issuer' | 'network' | null;
  currency: string;
  channel: AuthorizationRequest['channel'] | null;
  merchant: AuthorizationRequest['merchant'] | null;
  /** All facts, our approvals included, in the order of arrival; see `balanceAfter`. */
  facts: AuthorizationFact[];
  /** Set if money was taken without funds or without our approval. */
  attention: { since: Date; reason: string } | null;
  /** The end of the hold, as the issuer has named it, or by our terms: the issuer is asked then. Null if nothing was ever held. */
  expires_at: Date | null;
  /** When the issuer is asked what became of the payment; null if nothing is held. */
  verify_at: Date | null;
  /** The time at which the dispatcher starts the workflow if it does not run; null if nothing is held. */
  next_check_at: Date | null;
  timeline: TimelineEntry[];
  created_at: Date;
  updated_at: Date;
};

/** The decision on one message of the issuer. A repeat of the message gets the same one. */
export type AuthorizationMessage = {
  message_id: string;
  kind: AuthorizationRequest['kind'];
  /** The approved amount; of a decline the requested one. */
  amount_minor: bigint;
  /** The amount that its approval holds, if it is another one. */
  hold_minor?: bigint;
  /** The balance that was told to a balance inquiry; otherwise null. */
  available_minor: bigint | null;
  approved: boolean;
  code: string;
  /** Details that the request names. Missing: none. The merchant's amount is in minor units of its currency. */
  cash_minor?: bigint;
  merchant_amount?: { amount_minor: bigint; currency: string };
  initiator?: 'cardholder' | 'merchant';
  /** The requests whose answer may have been the approval. A request that was answered otherwise withdraws its id. */
  request_ids: string[];
};

/** The details that a request names, as its message keeps them. An API of an older release forwards requests without them. */
export const detailsOf = ({
  cashMinor,
  merchantAmount: there,
  initiator,
}: AuthorizationRequest): Pick<
  AuthorizationMessage,
  'cash_minor' | 'merchant_amount' | 'initiator'
> => ({
  ...(typeof cashMinor === 'bigint' && { cash_minor: cashMinor }),
  ...(there && {
    merchant_amount: { amount_minor: there.amountMinor, currency: there.currency },
  }),
  ...(initiator && { initiator }),
});

/** The reason of attention while a hold is past its time and the issuer does not say what became of it. */
export const ISSUER_SILENT =
  'the hold is past its time, and the issuer does not say what became of the payment';

/** The id of the authorization with this token of the issuer. */
export const authorizationId = (provider: string, token: string): string =>
  idOf('authorization', createHash('sha256').update(`${provider}/${token}`).digest());

/** The day whose limit an approval uses. */
export const dayOf = (
  { day }: { day?: string },
  { created_at: createdAt }: Pick<CardAuthorization, 'created_at'>,
): string => day ?? lagosDay(createdAt);

/** The decision on a message, if it has one. */
export const messageIn = (
  { messages }: Pick<CardAuthorization, 'messages'>,
  messageId: string,
): AuthorizationMessage | undefined => messages.find(({ message_id: id }) => id === messageId);

/** True if a repeat of this message is answered with an approval: approved, and neither declined nor voided since. */
export const isApproved = (
  { facts }: Pick<CardAuthorization, 'facts'>,
  messageId: string,
): boolean => isInForce(facts, messageId);

const long = { bsonType: 'long' };

/** The indexes of the lists of one card, and of all cards of a tenant. */
export const BY_CARD = { card_id: 1, created_at: -1, _id: -1 } as const;
/** See `BY_CARD`. */
export const BY_TENANT = { tenant_id: 1, created_at: -1, status: 1, _id: -1 } as const;

/** The collection of authorizations. */
export const cardAuthorizations = collection<CardAuthorization>('card_authorizations', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'card_id', 'token', 'version', 'status', 'amount_minor', 'held_minor'],
    properties: {
      tenant_id: { bsonType: 'string' },
      card_id: { bsonType: 'string' },
      status: {
        enum: ['approved', 'declined', 'partially_cleared', 'cleared', 'reversed', 'expired'],
      },
      amount_minor: { ...long, minimum: 0 },
      held_minor: { ...long, minimum: 0 },
      held_wallet_minor: { ...long, minimum: 0 },
      cleared_minor: { ...long, minimum: 0 },
      refunded_minor: { ...long, minimum: 0 },
      disputed_minor: { ...long, minimum: 0 },
      credited_minor: { ...long, minimum: 0 },
      returnable_minor: { ...long, minimum: 0 },
      version: { bsonType: 'int' },
    },
  },
  indexes: [{ key: BY_CARD }, { key: BY_TENANT }, ...supervisionIndexes],
});

/** The record of a payment without a decision and without a fact. Its status is `declined` until something is approved. */
export function newAuthorization(
  { tenantId, id, card, provider, token }: AuthorizationKey,
  request: AuthorizationRequest | null,
  now: Date,
): CardAuthorization {
  return {
    _id: id,
    tenant_id: tenantId,
    version: 1,
    event_sequence: 0,
    card_id: card,
    provider,
    token,
    status: 'declined',
    approved: false,
    code: NEVER_ASKED,
    messages: [],
    amount_minor: request?.amountMinor ?? 0n,
    held_minor: 0n,
    held_wallet_minor: 0n,
    cleared_minor: 0n,
    refunded_minor: 0n,
    payments: [],
    stand_in: null,
    currency: request?.currency ?? 'NGN',
    channel: request?.channel ?? null,
    merchant: request && { ...request.merchant, name: uncheckedText(request.merchant.name) },
    facts: [],
    attention: null,
    expires_at: null,
    verify_at: null,
    next_check_at: null,
    timeline: [],
    created_at: now,
    updated_at: now,
  };
}

/** The part of the payment that was taken, and neither refunded nor disputed. */
export function disputableOf({
  cleared_minor: cleared,
  refunded_minor: refunded,
  disputed_minor: disputed = 0n,
}: CardAuthorization): bigint {
  const left = cleared - refunded - disputed;
  return left > 0n ? left : 0n;
}

/** The amount that was taken and not returned, by a refund or because of a dispute. It is negative if more was returned. */
export const takenOf = ({
  cleared_minor: cleared,
  refunded_minor: refunded,
  credited_minor: credited = 0n,
}: Pick<CardAuthorization, 'cleared_minor' | 'refunded_minor' | 'credited_minor'>): bigint =>
  cleared - refunded - credited;

/**
 * The amount that was returned, or may be by disputes, beyond what was taken. A dispute that was lost returns nothing, so
 * a refund after it is in order. A refund alone may exceed what was taken; it counts only beside such disputes.
 */
export const excessOf = ({
  cleared_minor: cleared,
  refunded_minor: refunded,
  returnable_minor: returnable = 0n,
}: Pick<CardAuthorization, 'cleared_minor' | 'refunded_minor' | 'returnable_minor'>): bigint =>
  returnable > 0n && refunded + returnable > cleared ? refunded + returnable - cleared : 0n;

/** The reason of attention for a payment with disputes of which more is returned, or demanded back, than was taken. */
export const OVER_RETURNED = 'more is returned or disputed than was taken';

/** When the issuer is asked about a hold: daily, and once it is past its time. */
export const nextVerification = (expiresAt: Date | null, now: Date): Date => {
  const inADay = new Date(now.getTime() + DAY_MS);
  return expiresAt !== null && expiresAt > now && expiresAt < inADay ? expiresAt : inADay;
};

/** The code of a payment that the issuer reported before its request, which is declined if it still arrives. */
export const NEVER_ASKED = 'never_asked';
