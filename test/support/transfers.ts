import { type Named } from './mutations.js';
import { newId } from '../../src/shared/ids.js';
import type { KeyClaim } from '../../src/core/commit/accept.js';
import { type Snapshot, createRecordSet } from '../../src/core/commit/unit-of-work.js';
import type { AcceptBulkTransfer } from '../../src/capabilities/bulk-transfers/mutations.js';
import type { AcceptTransfer } from '../../src/capabilities/transfers/mutations.js';
import type { FactSource } from '../../src/core/instructions/fact.js';
import { timelineEntry } from '../../src/core/instructions/instruction.js';
import type { Transfer } from '../../src/capabilities/transfers/record.js';

/** The time of the decisions in tests. */
export const NOW = new Date('2026-11-21T09:00:00.000Z');
/** The day of `NOW` in Lagos. */
export const TODAY = '2026-11-21';

/** A transfer in the state after acceptance. */
export function pendingTransfer(changes: Partial<Transfer> = {}): Transfer {
  const id = changes._id ?? newId('transfer');
  const amount = changes.amount_minor ?? 250_000n;
  const fee = changes.fee_minor ?? 1_000n;
  return {
    _id: id,
    tenant_id: 'ten_a',
    version: 1,
    event_sequence: 0,
    status: 'pending',
    amount_minor: amount,
    fee_minor: fee,
    total_minor: amount + fee,
    currency: 'NGN',
    recipient: { account: '0123456789', bank_code: '058', name: 'ADA OBI', bank: 'A Bank' },
    reference: id,
    narration: 'rent',
    session_id: null,
    metadata: null,
    provider: 'sandbox-bank',
    submissions: 0,
    rejected_submissions: 0,
    polls: 0,
    first_submitted_at: null,
    acknowledged_at: null,
    next_attempt_at: null,
    failure: null,
    attention: null,
    in_suspense: false,
    monitor_until: null,
    limit_day: TODAY,
    next_check_at: NOW,
    timeline: [timelineEntry(NOW, 'accepted', 'api')],
    created_at: NOW,
    updated_at: NOW,
    settled_amount_minor: null,
    completed_at: null,
    reversed_at: null,
    ...changes,
  };
}

/** A claim of an idempotency key for 24 hours. */
export function claimOf(key: string, fingerprint = 'f', at = NOW): KeyClaim {
  const expiresAt = new Date(at.getTime() + 24 * 60 * 60 * 1000);
  return { id: key, fingerprint, createdAt: at, expiresAt };
}

/** The mutation that accepts a transfer. */
export function acceptTransferMutation(
  transfer: Transfer,
  changes: Partial<AcceptTransfer> = {},
): Named<'acceptTransfer'> {
  return {
    kind: 'acceptTransfer',
    tenantId: transfer.tenant_id,
    transfer,
    dailyLimitMinor: 1_000_000_000_000n,
    claim: null,
    answer: { status: 201, body: `accepted ${transfer._id}` },
    ...changes,
  };
}

/** The mutation that accepts a bulk transfer. */
export function createBulkTransferMutation(
  tenantId: string,
  id: string,
  transfers: Transfer[],
  changes: Partial<AcceptBulkTransfer> = {},
): Named<'acceptBulkTransfer'> {
  const items = transfers.map(({ _id, reference }) => ({ id: _id, reference, error: null }));
  return {
    kind: 'acceptBulkTransfer',
    tenantId,
    bulkTransfer: {
      _id: id,
      tenant_id: tenantId,
      provider: 'sandbox-bank',
      items,
      next_check_at: NOW,
      created_at: NOW,
    },
    transfers,
    dailyLimitMinor: 1_000_000_000_000n,
    expectsRefusals: false,
    claim: null,
    answer: (batch) => ({ status: 201, body: JSON.stringify({ id, items: batch.items }) }),
    ...changes,
  };
}

/** A snapshot of an empty database. */
export const emptySnapshot = (): Snapshot => ({
  fullRead: true,
  keys: new Map(),
  references: new Map(),
  records: createRecordSet(),
  wallets: new Map(),
  postings: new Map(),
});

/** The source of a fact from a provider's answer. */
export const byProvider: FactSource = {
  via: 'provider_answer',
  actor: 'sandbox-bank',
  providerRequestId: null,
  note: null,
};
