import { nextCheckIndex } from '../../platform/database/indexes.js';
import { collection } from '../commit/collection.js';
import { createHash } from 'node:crypto';
import { newId } from '../../shared/ids.js';
import type { CardEvent, CardEventState } from '../providers/card-issuer.js';
import { START_WITHIN_MS } from '../instructions/instruction.js';

/** `ignored`: of no card of ours, or about something that we never heard of and that is over. */
export const PROVIDER_EVENT_STATUSES = ['received', 'processed', 'ignored', 'failed'] as const;
export type ProviderEventStatus = (typeof PROVIDER_EVENT_STATUSES)[number];

/** Whose an event is. */
export type ProviderEventOwner = { tenantId: string; card: string };

/** An issuer's word about a card as it is kept: what it says, never the body that said it. */
export type ProviderEvent = {
  _id: string;
  /** Null as long as it is about no card of ours. */
  tenant_id: string | null;
  card_id: string | null;
  provider: string;
  /** Equal for repeats. */
  dedupe_key: string;
  /** Our name for it. */
  event: string;
  /** The issuer's id of the card. */
  issuer_card: string | null;
  /** Our id of the card or of the operation, or the token of the authorization. */
  reference: string | null;
  state: CardEventState;
  status: ProviderEventStatus;
  /** What it came to: a verdict of the state guard, or why nothing was done. */
  result: string | null;
  attempt_count: number;
  attention: { since: Date; reason: string } | null;
  occurred_at: Date | null;
  received_at: Date;
  processed_at: Date | null;
  /** When the sweep makes sure that a workflow applies it; null once nothing is left to do. */
  next_check_at: Date | null;
};

/** An event once more, by its tenant or by an operator. */
export type ProviderEventReplay = {
  _id: string;
  tenant_id: string;
  event_id: string;
  provider: string;
  status: 'pending' | 'completed' | 'failed';
  result: string | null;
  failure: { code: string; message: string } | null;
  next_check_at: Date | null;
  created_at: Date;
  completed_at: Date | null;
};

/** Whose it is has still to be found out. */
export function newProviderEvent(
  provider: string,
  { dedupeKey, name, card, reference, state, occurredAt }: CardEvent,
  now: Date,
): ProviderEvent {
  return {
    _id: newId('providerEvent'),
    tenant_id: null,
    card_id: null,
    provider,
    // What an issuer puts into its own id is not kept, and a long one is no burden for the index.
    dedupe_key: createHash('sha256').update(`${provider}/${dedupeKey}`).digest('hex'),
    event: name,
    issuer_card: harmless(card),
    reference: harmless(reference),
    state,
    status: 'received',
    result: null,
    attempt_count: 0,
    attention: null,
    occurred_at: occurredAt,
    received_at: now,
    processed_at: null,
    next_check_at: new Date(now.getTime() + START_WITHIN_MS),
  };
}

export const newProviderEventReplay = (
  {
    _id: event,
    tenant_id: tenantId,
    provider,
  }: Pick<ProviderEvent, '_id' | 'provider'> & { tenant_id: string },
  now: Date,
): ProviderEventReplay => ({
  _id: newId('providerEventReplay'),
  tenant_id: tenantId,
  event_id: event,
  provider,
  status: 'pending',
  result: null,
  failure: null,
  next_check_at: new Date(now.getTime() + START_WITHIN_MS),
  created_at: now,
  completed_at: null,
});

/**
 * A name that an issuer gives to something; null where it could be a card number: names start with a letter. Digits further
 * on are none, whatever they add up to: one token in some hundreds would be lost, and what it is about with it.
 */
const harmless = (name: string | null): string | null =>
  name !== null && /^[A-Za-z][A-Za-z0-9_-]{0,99}$/.test(name) ? name : null;

/** Replays of provider events. */
export const providerEventReplays = collection<ProviderEventReplay>('provider_event_replays', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'event_id', 'status', 'created_at'],
    properties: {
      tenant_id: { bsonType: 'string' },
      event_id: { bsonType: 'string' },
      status: { enum: ['pending', 'completed', 'failed'] },
      created_at: { bsonType: 'date' },
    },
  },
  indexes: [{ key: { event_id: 1 } }, nextCheckIndex],
});

/** The result of applying an event: the verdict of its record's transition, or that we have no such record. */
export type Applied = { kind: 'applied'; outcome: string } | { kind: 'not_there' };

/** Applies an event to the record that it is about. Repeatable, in any order of arrival. */
export type ApplyProviderEvent = (
  event: ProviderEvent,
  owner: ProviderEventOwner,
) => Promise<Applied>;

/** Finds the card that an issuer speaks of, and its tenant; null if it is none of ours at this issuer. */
export type FindOwner = (
  provider: string,
  about: { reference: string | null; issuer_card: string | null },
) => Promise<ProviderEventOwner | null>;
