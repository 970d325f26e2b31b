import { attentionIndex, nextCheckIndex } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import { createHash } from 'node:crypto';
import { idOf } from '../../shared/ids.js';
import type { AuthorizationRequest } from '../../core/providers/card-issuer.js';
import type { TimelineEntry } from '../../core/instructions/timeline.js';

export type AuthorizationStatus = 'approved' | 'declined' | 'cleared' | 'reversed' | 'expired';

/** A real-time authorization as it was decided, and what became of it. Amounts in kobo. */
export type CardAuthorization = {
  /** Made of issuer and token, so that the same token is the same decision. */
  _id: string;
  tenant_id: string;
  version: number;
  card_id: string;
  provider: string;
  token: string;
  status: AuthorizationStatus;
  /** What we decided, whatever became of it. */
  approved: boolean;
  /** Why it was decided so. */
  code: string;
  /** The askings that may have been answered with the approval. One that was not takes its own back. */
  authorization_request_ids?: string[];
  /** Where there are none: the one asking that may have been, of a version before there could be several. */
  asking: string | null;
  /** What was asked for; zero if it is known by the issuer's messages alone. */
  amount_minor: bigint;
  /** What is still held for it, of the card (`card`) or of the wallet (`wallet`). */
  held_minor: bigint;
  funding_source: 'card' | 'wallet';
  /** What was taken for it and not given back. */
  cleared_minor: bigint;
  currency: string;
  channel: AuthorizationRequest['channel'] | null;
  merchant: AuthorizationRequest['merchant'] | null;
  /** What became known since, in the order of arrival; see facts.ts. */
  facts: AuthorizationFact[];
  /** It took money that was not there, or that we had not agreed to. */
  attention: { since: Date; reason: string } | null;
  /** When the hold ends by itself; null where nothing was ever held. */
  expires_at: Date | null;
  /** When the sweep makes sure that a workflow follows it; null once nothing is held. */
  next_check_at: Date | null;
  timeline: TimelineEntry[];
  created_at: Date;
  updated_at: Date;
};

/** Something that became of an authorization. */
export type AuthorizationFact = {
  /** Equal for repeats: the issuer's key of the event, or a name of our own. */
  key: string;
  kind: 'declined' | 'cleared' | 'reversed' | 'expired';
  /** Of what was cleared, otherwise zero. */
  amount_minor: bigint;
  /** When it happened, which is not when we heard of it. */
  at: Date;
};

export const authorizationId = (provider: string, token: string): string =>
  idOf('authorization', createHash('sha256').update(`${provider}/${token}`).digest());

export const askingsOf = ({
  authorization_request_ids: authorizationRequestIds,
  asking,
}: CardAuthorization): string[] => authorizationRequestIds ?? (asking === null ? [] : [asking]);

/** What the issuer is told, each time it asks. */
export const isApproved = ({ approved, facts }: CardAuthorization): boolean =>
  approved && !facts.some(({ kind }) => kind === 'declined');

const long = { bsonType: 'long' };

/** Authorizations of card payments, with their holds. */
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
