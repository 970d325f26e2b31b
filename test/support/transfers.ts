import { newId } from '../../src/ids.js';
import { forRecords, type Claim, type Snapshot } from '../../src/ledger/view.js';
import type { AcceptItem, BulkItem } from '../../src/transfers/items.js';
import type { FactOrigin } from '../../src/pursuits/facts.js';
import { timelineEntry } from '../../src/pursuits/timeline.js';
import type { Transfer } from '../../src/transfers/transfer.js';

export const NOW = new Date('2026-11-21T09:00:00.000Z');
export const TODAY = '2026-11-21';

/** A transfer as acceptance makes it. */
export function pendingTransfer(changes: Partial<Transfer> = {}): Transfer {
  const id = changes._id ?? newId('transfer');
  const amount = changes.amount_minor ?? 250_000n;
  const fee = changes.fee_minor ?? 1_000n;
  return {
    _id: id,
    tenant: 'ten_a',
    version: 1,
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
    sends: 0,
    not_taken: 0,
    polls: 0,
    failure: null,
    attention: null,
    in_suspense: false,
    watch_until: null,
    day: TODAY,
    due_at: NOW,
    timeline: [timelineEntry(NOW, 'accepted', 'api')],
    created_at: NOW,
    updated_at: NOW,
    completed_at: null,
    reversed_at: null,
    ...changes,
  };
}

export function claimOf(key: string, fingerprint = 'f', at = NOW): Claim {
  const expiresAt = new Date(at.getTime() + 24 * 60 * 60 * 1000);
  return { id: key, fingerprint, createdAt: at, expiresAt };
}

export function acceptItem(transfer: Transfer, changes: Partial<AcceptItem> = {}): AcceptItem {
  return {
    kind: 'acceptTransfer',
    tenant: transfer.tenant,
    transfer,
    dailyLimitMinor: 1_000_000_000_000n,
    claim: null,
    answer: { status: 201, body: `accepted ${transfer._id}` },
    ...changes,
  };
}

export function bulkItem(
  tenant: string,
  id: string,
  transfers: Transfer[],
  changes: Partial<BulkItem> = {},
): BulkItem {
  const items = transfers.map(({ _id, reference }) => ({ id: _id, reference, error: null }));
  return {
    kind: 'acceptBatch',
    tenant,
    batch: {
      _id: id,
      tenant,
      provider: 'sandbox-bank',
      items,
      due_at: NOW,
      created_at: NOW,
    },
    transfers,
    dailyLimitMinor: 1_000_000_000_000n,
    claim: null,
    answer: (batch) => ({ status: 201, body: JSON.stringify({ id, items: batch.items }) }),
    ...changes,
  };
}

export const emptySnapshot = (): Snapshot => ({
  complete: true,
  keys: new Map(),
  references: new Map(),
  records: forRecords(() => new Map()) as Snapshot['records'],
  wallets: new Map(),
  postings: new Map(),
});

export const byProvider: FactOrigin = {
  via: 'provider_answer',
  actor: 'sandbox-bank',
  providerRequestId: null,
  note: null,
};
