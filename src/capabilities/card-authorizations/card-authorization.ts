import { attentionIndex, nextCheckIndex } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import { createHash } from 'node:crypto';
import { idOf } from '../../shared/ids.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';
import { timelineEntry, type TimelineEntry } from '../../core/instructions/timeline.js';
import type { Card } from '../cards/card.js';
import type {
  ApplyCardAuthorizationFact,
  AuthorizationKey,
  DecideCardAuthorization,
} from './mutations.js';
import type { AuthorizationVerdict } from './rules.js';

/** The status of an authorization. */
export type AuthorizationStatus = 'approved' | 'declined' | 'cleared' | 'reversed' | 'expired';

/** A real-time authorization: our decision, and the facts about the payment since. Amounts are in kobo. */
export type CardAuthorization = {
  /** Derived from issuer and token, so that a repeated request finds the first decision. */
  _id: string;
  tenant_id: string;
  version: number;
  card_id: string;
  provider: string;
  token: string;
  status: AuthorizationStatus;
  /** The decision; later facts do not change it. */
  approved: boolean;
  /** The reason for the decision. */
  code: string;
  /** The requests whose answer may have been the approval. A request that was answered otherwise withdraws its id. */
  authorization_request_ids: string[];
  /** The requested amount; zero if only the issuer's events mention the payment. */
  amount_minor: bigint;
  /** The amount still held, on the card or in the wallet as `funding_source` says. */
  held_minor: bigint;
  funding_source: 'card' | 'wallet';
  /** The amount taken and not returned. */
  cleared_minor: bigint;
  currency: string;
  channel: AuthorizationRequest['channel'] | null;
  merchant: AuthorizationRequest['merchant'] | null;
  /** The facts since the decision, in the order of arrival; see `balanceAfter`. */
  facts: AuthorizationFact[];
  /** Set if money was taken without funds or without our approval. */
  attention: { since: Date; reason: string } | null;
  /** The end of the hold if the issuer reports nothing; null if nothing was ever held. */
  expires_at: Date | null;
  /** The time at which the dispatcher starts the workflow if it does not run; null if nothing is held. */
  next_check_at: Date | null;
  timeline: TimelineEntry[];
  created_at: Date;
  updated_at: Date;
};

/** A fact about an authorization after its decision. */
export type AuthorizationFact = {
  /** Identifies the fact, so that a repeat is ignored: the issuer's key of the event, or a name of ours. */
  key: string;
  kind: 'declined' | 'cleared' | 'reversed' | 'expired';
  /** The cleared amount; zero for other kinds. */
  amount_minor: bigint;
  /** The time of the event itself, not of its arrival. */
  at: Date;
};

/** The id of the authorization with this token of the issuer. */
export const authorizationId = (provider: string, token: string): string =>
  idOf('authorization', createHash('sha256').update(`${provider}/${token}`).digest());

/** True if a repeated request is answered with an approval: approved, and not declined since. */
export const isApproved = ({ approved, facts }: CardAuthorization): boolean =>
  approved && !facts.some(({ kind }) => kind === 'declined');

const long = { bsonType: 'long' };

/** The collection of authorizations. */
export const cardAuthorizations = collection<CardAuthorization>('card_authorizations', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'card_id', 'token', 'version', 'status', 'amount_minor', 'held_minor'],
    properties: {
      tenant_id: { bsonType: 'string' },
      card_id: { bsonType: 'string' },
      status: { enum: ['approved', 'declined', 'cleared', 'reversed', 'expired'] },
      amount_minor: { ...long, minimum: 0 },
      held_minor: { ...long, minimum: 0 },
      cleared_minor: { ...long, minimum: 0 },
      version: { bsonType: 'int' },
    },
  },
  indexes: [{ key: { card_id: 1, created_at: -1, _id: -1 } }, nextCheckIndex, attentionIndex],
});

/** The dispatcher starts the workflow after this time if the decision's own start has failed. */
const START_WITHIN_MS = 2_000;

/** The record of a decided request, with its hold if it is approved. */
export function newAuthorization(
  input: DecideCardAuthorization,
  verdict: AuthorizationVerdict,
  now: Date,
): CardAuthorization {
  const { request, authorizationRequestId, holdMs } = input;
  const code = verdict.approved ? 'approved' : verdict.code;
  const detail = verdict.approved ? code : `declined: ${code}`;
  const declined = {
    ...emptyAuthorization(input, now),
    ...requestFields(request),
    authorization_request_ids: [authorizationRequestId],
    code,
  };
  const timeline = [timelineEntry(now, 'accepted', input.provider, { detail })];
  if (!verdict.approved) return { ...declined, timeline };
  return {
    ...declined,
    timeline,
    status: 'approved',
    approved: true,
    held_minor: request.amountMinor,
    funding_source: verdict.fundingSource,
    expires_at: new Date(now.getTime() + holdMs),
    next_check_at: new Date(now.getTime() + START_WITHIN_MS),
  };
}

/**
 * The record of an authorization that is known only from a fact: no request for it was ever decided here. It counts as
 * declined, so that its request is declined if it arrives later.
 */
export function unseenAuthorization(
  input: ApplyCardAuthorizationFact,
  { funding }: Pick<Card, 'funding'>,
  now: Date,
): CardAuthorization {
  const code = input.code ?? 'never_asked';
  const { by } = input;
  const timeline = [timelineEntry(now, 'accepted', 'bursar', { detail: `declined: ${code}` })];
  // Money that is taken in spite of the decline, and then returned, goes to the balance that pays for such a card.
  const declined = {
    ...emptyAuthorization(input, now),
    funding_source: funding === 'jit' ? ('wallet' as const) : ('card' as const),
    code,
    timeline,
  };
  return typeof by === 'string' ? declined : { ...declined, ...requestFields(by.request) };
}

const requestFields = ({
  amountMinor,
  currency,
  channel,
  merchant,
}: DecideCardAuthorization['request']) => ({
  amount_minor: amountMinor,
  currency,
  channel,
  merchant,
});

function emptyAuthorization({ tenantId, id, card, provider, token }: AuthorizationKey, now: Date) {
  return {
    _id: id,
    tenant_id: tenantId,
    version: 1,
    card_id: card,
    provider,
    token,
    status: 'declined',
    approved: false,
    authorization_request_ids: [],
    amount_minor: 0n,
    held_minor: 0n,
    funding_source: 'card',
    cleared_minor: 0n,
    currency: 'NGN',
    channel: null,
    merchant: null,
    facts: [],
    attention: null,
    expires_at: null,
    next_check_at: null,
    created_at: now,
    updated_at: now,
  } satisfies Omit<CardAuthorization, 'code' | 'timeline'>;
}
