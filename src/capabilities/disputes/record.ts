import { createHash } from 'node:crypto';
import { attentionIndex } from '../../platform/database/indexes.js';
import type { AuditedState } from '../../core/audit/entry.js';
import { collection } from '../../core/commit/collection.js';
import { timelineEntry, type TimelineEntry } from '../../core/instructions/instruction.js';
import { idOf } from '../../shared/ids.js';
import type { Dispute as TheirDispute } from '../../core/providers/payment-provider.js';
import { paidMinorOf, type Charge } from '../charges/record.js';

/** The states of a dispute. `won` and `lost` are final. */
export const DISPUTE_STATUSES = ['open', 'won', 'lost'] as const;
/** The state of a dispute. */
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];

/** A dispute of a charge: the customer's bank demands the money back. Amounts in kobo. */
export type Dispute = {
  _id: string;
  tenant_id: string;
  version: number;
  event_sequence: number;
  status: DisputeStatus;
  provider: string;
  provider_dispute_id: string;
  charge_id: string;
  charge_reference: string;
  amount_minor: bigint;
  currency: 'NGN';
  /** The account that has the amount while the dispute is open: its provider holds it, or has taken it. */
  funds: 'with_us' | 'taken';
  reason: string | null;
  /** When it is lost if nobody answers it. */
  due_at: Date | null;
  attention: { since: Date; reason: string } | null;
  /** Contradictions that an operator has acknowledged: their repeats call nobody. Absent or empty without one. */
  acknowledged?: string[];
  /** The number of an operator's decisions that moved money, each with a posting. Absent if no operator has decided it. */
  operator_decisions?: number;
  timeline: TimelineEntry[];
  created_at: Date;
  updated_at: Date;
  decided_at: Date | null;
};

/**
 * True for a report that leaves open whether a dispute is lost: its claim was declined, and the refunds and the other disputes of the
 * charge explain that it is reversed. `dispute`: ours, with what the charge counts of it.
 */
export function isInDoubt(
  charge: Charge,
  { status, amount_minor: amountMinor }: Pick<Dispute, 'status' | 'amount_minor'>,
  { state, byReversal = false }: Pick<TheirDispute, 'state' | 'byReversal'>,
): boolean {
  const { refunded_minor, refund_pending_minor, disputed_minor } = charge;
  const otherDisputesMinor = disputed_minor - (status === 'won' ? 0n : amountMinor);
  const explainedMinor = refunded_minor + refund_pending_minor + otherDisputesMinor;
  return state === 'lost' && byReversal && explainedMinor >= paidMinorOf(charge);
}

/** Reports in the order in which they are booked: those of a reversal come last, because the others may explain it. */
export const inBookingOrder = (reports: readonly TheirDispute[]): TheirDispute[] =>
  reports.toSorted((a, b) => Number(a.byReversal === true) - Number(b.byReversal === true));

/** The state of a dispute that an approval is for. */
export const disputeState = (dispute: Dispute | null | undefined): AuditedState =>
  dispute
    ? {
        status: dispute.status,
        amount_minor: Number(dispute.amount_minor),
        attention: dispute.attention?.reason ?? null,
      }
    : null;

/** The id of a dispute, derived from the provider's, so that every report finds the same record. */
export const disputeId = (provider: string, theirs: string): string =>
  idOf('dispute', createHash('sha256').update(`${provider}/${theirs}`).digest());

/** The indexes of the list of disputes. Each has its complete sort order. */
export const DISPUTE_INDEXES = {
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byStatus: { tenant_id: 1, status: 1, created_at: -1, _id: -1 },
  byCharge: { tenant_id: 1, charge_reference: 1, created_at: -1, _id: -1 },
} as const;

const long = { bsonType: 'long' };
const string = { bsonType: 'string' };

/** The collection of disputes. */
export const disputes = collection<Dispute>('disputes', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'status', 'charge_id', 'amount_minor', 'funds'],
    properties: {
      tenant_id: string,
      charge_id: string,
      status: { enum: [...DISPUTE_STATUSES] },
      funds: { enum: ['with_us', 'taken'] },
      amount_minor: { ...long, minimum: 1 },
      version: { bsonType: 'int' },
    },
  },
  indexes: [
    ...Object.values(DISPUTE_INDEXES).map((key) => ({ key })),
    { key: { charge_id: 1, created_at: 1 } },
    attentionIndex,
  ],
});

/** The record of a dispute that becomes known. */
export function newDispute(
  charge: Charge,
  fields: Pick<Dispute, '_id' | 'provider_dispute_id' | 'amount_minor' | 'funds'>,
  now: Date,
): Dispute {
  return {
    ...fields,
    tenant_id: charge.tenant_id,
    version: 1,
    event_sequence: 0,
    status: 'open',
    provider: charge.provider,
    charge_id: charge._id,
    charge_reference: charge.reference,
    currency: charge.currency,
    reason: null,
    due_at: null,
    attention: null,
    timeline: [
      timelineEntry(now, 'webhook', charge.provider, { detail: 'the charge is disputed' }),
    ],
    created_at: now,
    updated_at: now,
    decided_at: null,
  };
}
