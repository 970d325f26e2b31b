import { createHash } from 'node:crypto';
import type { Document } from 'mongodb';
import { supervisionIndexes } from '../../platform/database/indexes.js';
import type { CollectionSpec } from '../../platform/database/migrations.js';
import { newId } from '../../shared/ids.js';
import { collection } from '../commit/collection.js';
import { START_WITHIN_MS } from '../instructions/instruction.js';
import type { Port } from '../providers/registry.js';
import { logIdsOf, type LogIds } from '../supervision/attention-log.js';
import type { MaskedMessage } from './message.js';
import { providerEventWorkflowId } from './workflow-contract.js';

/**
 * `processed`: applied, or it changed nothing. `ignored`: nothing can follow from it. `failed`: an operator must act.
 */
export const PROVIDER_EVENT_STATUSES = ['received', 'processed', 'ignored', 'failed'] as const;
/** The status of a provider event. */
type ProviderEventStatus = (typeof PROVIDER_EVENT_STATUSES)[number];

/** The tenant and the card that an event belongs to. */
export type ProviderEventOwner = { tenantId: string; card: string };

/** A fact of an event in our terms: about which record, and what it says. Amounts are `long`. */
export type StoredFact = {
  /** Selects the handler. */
  subject: string;
  /** Our reference, or the provider's token of an authorization; null if it cannot be one. */
  reference: string | null;
  /** The issuer's id of the card. */
  issuer_card?: string | null;
  state: Document & { kind: string };
  /** The fact's secret, sealed for this event; absent once it is applied. */
  sealed?: string;
};

/** An authentic message from a provider: its facts and a masked copy, never the message itself. */
export type ProviderEvent = {
  _id: string;
  /** Null for an event of no card of ours. */
  tenant_id: string | null;
  card_id: string | null;
  provider: string;
  /** The port whose adapter reads the message. */
  port: Port;
  /** Equal for repeats: the digest of provider and key. */
  dedupe_key: string;
  /** Our name of the event; for an unreadable message the provider's, if that can be stored. */
  event: string;
  reading: 'event' | 'irrelevant' | 'unreadable';
  facts: StoredFact[];
  message: MaskedMessage;
  status: ProviderEventStatus;
  /** The verdict of the record's transition, or why nothing was done. */
  result: string | null;
  attempt_count: number;
  attention: { since: Date; reason: string } | null;
  /** The place of its workflow among those of this provider and type; null if it has none. */
  workflow_slot: number | null;
  occurred_at: Date | null;
  received_at: Date;
  processed_at: Date | null;
  /** The time at which the dispatcher starts its workflow; null if nothing is left to do. */
  next_check_at: Date | null;
};

/** The ids of an event for a log line about it. */
export const eventLogIds = (event: ProviderEvent): LogIds =>
  logIdsOf(event, providerEventWorkflowId(event._id));

/** A replay of an event, requested by its tenant or by an operator. */
export type ProviderEventReplay = {
  _id: string;
  /** Empty for an event of no tenant, which only operators replay. */
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

/** The reason of attention of a message that its adapter cannot read. */
export const UNREADABLE = 'its adapter cannot read the message';

/** The parts of an event that its message decides. */
type ProviderEventDraft = Pick<
  ProviderEvent,
  'provider' | 'port' | 'event' | 'reading' | 'facts' | 'message' | 'occurred_at'
> & { dedupeKey: string };

/**
 * The event as it is stored first. An irrelevant one has ended. An unreadable one has failed; its next check starts the
 * workflow that waits for an operator.
 */
export function newProviderEvent(
  { dedupeKey, ...draft }: ProviderEventDraft,
  now: Date,
  id: string = newId('providerEvent'),
): ProviderEvent {
  const { provider, reading } = draft;
  const unreadable = reading === 'unreadable';
  const ended = { event: 'received', irrelevant: 'ignored', unreadable: 'failed' } as const;
  const check = { event: START_WITHIN_MS, irrelevant: null, unreadable: 0 }[reading];
  return {
    _id: id,
    tenant_id: null,
    card_id: null,
    // A provider's own key is not kept, and a long one is no burden for the index.
    dedupe_key: createHash('sha256').update(`${provider}/${dedupeKey}`).digest('hex'),
    ...draft,
    status: ended[reading],
    result: { event: null, irrelevant: 'irrelevant', unreadable: UNREADABLE }[reading],
    attempt_count: 0,
    attention: unreadable ? { since: now, reason: UNREADABLE } : null,
    workflow_slot: null,
    received_at: now,
    processed_at: null,
    next_check_at: check === null ? null : new Date(now.getTime() + check),
  };
}

/** A replay of an event, complete with its id. */
export const newProviderEventReplay = (
  {
    _id: event,
    tenant_id: tenantId,
    provider,
  }: Pick<ProviderEvent, '_id' | 'provider' | 'tenant_id'>,
  now: Date,
): ProviderEventReplay => ({
  _id: newId('providerEventReplay'),
  tenant_id: tenantId ?? '',
  event_id: event,
  provider,
  status: 'pending',
  result: null,
  failure: null,
  next_check_at: new Date(now.getTime() + START_WITHIN_MS),
  created_at: now,
  completed_at: null,
});

const amount = { bsonType: ['long', 'null'] };

/** Provider events. One index holds repeats back, one bounds the open workflows of a provider and type. */
export const providerEvents: CollectionSpec = {
  name: 'provider_events',
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'card_id',
      'provider',
      'port',
      'dedupe_key',
      'event',
      'facts',
      'status',
      'received_at',
    ],
    properties: {
      tenant_id: { bsonType: ['string', 'null'] },
      card_id: { bsonType: ['string', 'null'] },
      status: { enum: [...PROVIDER_EVENT_STATUSES] },
      facts: {
        bsonType: 'array',
        items: {
          bsonType: 'object',
          properties: {
            state: {
              bsonType: 'object',
              properties: { amount_minor: amount, amountMinor: amount },
            },
          },
        },
      },
      received_at: { bsonType: 'date' },
    },
  },
  indexes: [
    { key: { dedupe_key: 1 }, unique: true },
    { key: { card_id: 1, _id: -1 } },
    {
      key: { provider: 1, event: 1, workflow_slot: 1 },
      unique: true,
      partialFilterExpression: { workflow_slot: { $type: 'int' } },
    },
    ...supervisionIndexes,
  ],
  sealed: [{ path: 'facts.sealed', place: 'secret', byOwner: true }],
};

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
  indexes: [{ key: { event_id: 1 } }, ...supervisionIndexes],
  // Beside its event, which is on one shard because its tenant is unknown when it arrives.
  shardBy: null,
});
