import { noteFaultsOf } from '../../../activities/preparation.js';
import {
  MANY_RECORDS,
  recordsWith,
  type ProviderFaults,
} from '../../../src/core/providers/faults.js';
import { isFloatBack } from '../../../src/core/providers/health.js';
import { createLog } from '../../../src/shared/log.js';
import { pendingTransfer } from '../../support/transfers.js';

test('a refusal that may be about one transfer stops nothing: it counts for this record, which gets attention', async () => {
  const met: string[] = [];
  const faults = {
    reportOfOne: async (provider: string, name: string, record: string) =>
      void met.push(`${provider}/${name}/${record}`),
  } as unknown as ProviderFaults;
  const raised: string[] = [];
  const records = {
    // Another reason is there already, so no line is logged.
    raiseAttention: async (_tenant: string, id: string) => (raised.push(id), false),
  };
  const record = pendingTransfer();
  const answer = {
    kind: 'rejected_temporarily',
    reason: 'suspended',
    fault: 'bad_request',
    providerRequestId: null,
  } as const;
  await noteFaultsOf(
    { faults, records, log: createLog({ level: 'silent', name: 'test' }) },
    'paystack',
    answer,
    record,
  );
  expect(met).toEqual([`paystack/bad_request/${record._id}`]);
  expect(raised).toEqual([record._id]);
});

test('the same record counts once however often it meets a fault, and a fault that has ended begins anew', () => {
  let fault = { records: [] as string[], ended_at: null as Date | null };
  const meet = (record: string) => {
    fault = { records: recordsWith(fault, record), ended_at: null };
    return fault.records.length;
  };
  expect([meet('a'), meet('a'), meet('b')]).toEqual([1, 1, 2]);
  expect(['c', 'd', 'e', 'f'].map(meet)).toEqual([3, 4, MANY_RECORDS, MANY_RECORDS]);
  fault.ended_at = new Date();
  expect(meet('a')).toBe(1);
  expect(recordsWith(null, 'a')).toEqual(['a']);
});

test('a float that covers an amount but not the provider’s fee is not back', () => {
  const fault = { needed_minor: 1_000_000n };
  expect(isFloatBack(fault, { feeAtMostMinor: 10_000n }, 1_000_000n)).toBe(false);
  expect(isFloatBack(fault, { feeAtMostMinor: 10_000n }, 1_010_000n)).toBe(true);
  expect(isFloatBack(fault, {}, 1_000_000n)).toBe(true);
  expect(isFloatBack({ needed_minor: null }, { feeAtMostMinor: 10_000n }, 0n)).toBe(true);
});
