import type { AnyBulkWriteOperation } from 'mongodb';
import { failureWith } from '../../core/instructions/instruction.js';
import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import type { Counter } from '../../core/commit/counter.js';
import { utcDay } from '../../core/commit/daily-counts.js';
import { listIndexes } from '../../core/instructions/listing.js';
import type { OutgoingPayment } from '../../core/outgoing-payments/outgoing-payment.js';

/** The stored form of a transfer. Amounts are in kobo. */
export type Transfer = OutgoingPayment & {
  currency: 'NGN';
  recipient: { account: string; bank_code: string; name: string | null; bank: string | null };
  narration: string;
  session_id: string | null;
  metadata: Record<string, unknown> | null;
};

/** The status of a transfer, in the database and in the API. */
export type TransferStatus = Transfer['status'];

/** The id of the workflow that executes a transfer. */
export const transferWorkflowId = (id: string) => `transfer/${id}`;

/** Adds our message to the code of a failure. An unknown code stays as it is and gets a general message. */
export const failure = failureWith(
  {
    account_closed: 'The recipient account is closed.',
    no_such_account: 'The recipient account does not exist.',
    invalid_account: 'The recipient account was not found.',
    reversed: 'The payment was made and then reversed by the bank.',
    operator: 'An operator ended this transfer.',
  },
  'The bank refused the payment.',
);

const long = { bsonType: 'long' };

/** The collection of transfers. */
export const transfers = collection<Transfer>('transfers', {
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'version',
      'status',
      'amount_minor',
      'fee_minor',
      'total_minor',
      'submissions',
    ],
    properties: {
      tenant_id: { bsonType: 'string' },
      reference: { bsonType: 'string' },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      amount_minor: { ...long, minimum: 1 },
      fee_minor: { ...long, minimum: 0 },
      total_minor: { ...long, minimum: 1 },
      settled_amount_minor: { bsonType: ['long', 'null'], minimum: 1 },
      provider_fee_minor: { bsonType: ['long', 'null'], minimum: 0 },
      currency: { enum: ['NGN'] },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [...listIndexes, ...supervisionIndexes],
  sealed: [{ path: 'recipient.account' }, { path: 'recipient.name' }],
});

/**
 * A change of the number of created and failed transfers of a tenant on one UTC day of creation. The totals of lists
 * are read from these counts. Only changes that also write the wallet are counted, so that counting causes no conflict
 * between commits. Open transfers are counted when they are listed; the others are completed.
 */
export type CountChange = { tenantId: string; day: string; created: number; failed: number };

/** Returns the change of the counts after a transfer was created (`before` is null) or changed, or null. */
export function countChange(before: Transfer | null, after: Transfer): CountChange | null {
  const created = before === null ? 1 : 0;
  const failed = Number(after.status === 'failed') - Number(before?.status === 'failed');
  if (created === 0 && failed === 0) return null;
  return { tenantId: after.tenant_id, day: utcDay(after.created_at), created, failed };
}

/** The change of the counts when a transfer is removed. */
export const uncount = ({
  tenant_id: tenantId,
  created_at: at,
  status,
}: Transfer): CountChange => ({
  tenantId,
  day: utcDay(at),
  created: -1,
  failed: status === 'failed' ? -1 : 0,
});

/** Adds the changes of one commit up by tenant and day. Omits the sums that are zero. */
export function sumChanges(changes: readonly CountChange[]): CountChange[] {
  const sums = new Map<string, CountChange>();
  for (const change of changes) {
    const key = `${change.tenantId}/${change.day}`;
    const sum = sums.get(key) ?? { ...change, created: 0, failed: 0 };
    const { created, failed } = change;
    sums.set(key, { ...sum, created: sum.created + created, failed: sum.failed + failed });
  }
  return [...sums.values()].filter((sum) => sum.created !== 0 || sum.failed !== 0);
}

/** Created and failed transfers. */
export type Counts = { created: bigint; failed: bigint };
/** The counts of a tenant in one month. `_id` is `<tenant>/<YYYY-MM>`; keys of `days` are two digits. */
export type CountsDocument = Counts & { _id: string; days: Record<string, Counts> };

/** The collection of monthly counts. A commit writes it in the transaction that writes the transfers. */
export const transferMonthlyCounts: Counter<CountChange> = {
  name: 'transfer_monthly_counts',
  validator: {
    bsonType: 'object',
    required: ['created', 'failed', 'days'],
    properties: {
      created: { ...long, minimum: 0 },
      failed: { ...long, minimum: 0 },
      days: { bsonType: 'object' },
    },
  },
  indexes: [],
  shardBy: '_id',
  sum: sumChanges,
  update: countUpdate as Counter<CountChange>['update'],
};

/** The write of a change. */
export function countUpdate(change: CountChange): AnyBulkWriteOperation<CountsDocument> {
  const [created, failed] = [BigInt(change.created), BigInt(change.failed)];
  const day = `days.${change.day.slice(8)}`;
  return {
    updateOne: {
      filter: { _id: `${change.tenantId}/${change.day.slice(0, 7)}` },
      update: { $inc: { created, failed, [`${day}.created`]: created, [`${day}.failed`]: failed } },
      upsert: true,
    },
  };
}
