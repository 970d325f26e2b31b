import { approvals } from '../core/approvals/approval.js';
import { collectionsWith } from './capabilities.js';
import type { Config } from '../shared/config.js';
import { attentionIndex, nextCheckIndex } from '../platform/database/indexes.js';
import {
  attentionBacklog,
  overdueBacklog,
  type BacklogQuery,
} from '../platform/metrics/backlog.js';

const DELIVERIES = 'webhook_deliveries';
const ENDPOINTS = 'webhook_endpoints';

const webhookBacklogs: Readonly<Record<string, BacklogQuery>> = {
  webhooks_pending: {
    collection: DELIVERIES,
    match: () => ({ next_check_at: { $type: 'date' } }),
    index: { next_check_at: 1 },
    order: 'next_check_at',
    since: 'created_at',
  },
  webhooks_overdue: overdueBacklog(DELIVERIES),
  webhook_endpoints_overdue: overdueBacklog(ENDPOINTS),
  webhook_endpoints_failing: {
    collection: ENDPOINTS,
    match: () => ({ 'failing.since': { $type: 'date' }, status: 'enabled' }),
    index: 'failing',
    order: 'failing.since',
    since: 'failing.since',
  },
  webhooks_dead: {
    collection: DELIVERIES,
    match: () => ({ status: 'dead' }),
    index: 'dead',
    order: '_id',
    since: 'created_at',
  },
  webhook_endpoints_parked: {
    collection: ENDPOINTS,
    match: () => ({ parked_at: { $type: 'date' } }),
    index: 'parked',
    order: 'parked_at',
    since: 'parked_at',
  },
};

/** The longest time for which a process claims a record: deliveries are claimed for longest. */
export const claimedForMs = ({
  instructions,
  webhooks,
}: Pick<Config, 'instructions' | 'webhooks'>): number =>
  instructions.stallTimeoutMs + 2 * webhooks.timeoutMs;

/**
 * The backlogs of the metrics: `<collection>_overdue` and `<collection>_attention` for each collection with that index,
 * and the webhooks.
 */
export const backlogs: Readonly<Record<string, BacklogQuery>> = {
  ...Object.fromEntries(
    collectionsWith(nextCheckIndex).map((name) => [`${name}_overdue`, overdueBacklog(name)]),
  ),
  ...Object.fromEntries(
    collectionsWith(attentionIndex).map((name) => [`${name}_attention`, attentionBacklog(name)]),
  ),
  ...webhookBacklogs,
  // Somebody without a sign-in asks through Temporal for an act that needs a second person.
  approvals_claimed: {
    collection: approvals.name,
    match: (now) => ({ status: 'pending', 'maker.claim': true, expires_at: { $gt: now } }),
    index: 'claimed',
    order: 'expires_at',
    since: 'created_at',
  },
  provider_floats_short: {
    collection: 'provider_faults',
    match: () => ({ ended_at: null, name: 'float' }),
    index: 'lasting',
    order: 'since',
    since: 'since',
  },
  provider_faults: {
    collection: 'provider_faults',
    match: () => ({ ended_at: null }),
    index: 'lasting',
    order: 'since',
    since: 'since',
  },
};
