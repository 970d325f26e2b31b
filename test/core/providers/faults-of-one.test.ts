import { noteFaultsOf } from '../../../activities/preparation.js';
import {
  MANY_RECORDS,
  metByWith,
  type ProviderFault,
  type ProviderFaults,
} from '../../../src/core/providers/faults.js';
import { isFloatBack } from '../../../src/core/providers/health.js';
import { createLog } from '../../../src/shared/log.js';
import { pendingTransfer } from '../../support/transfers.js';

test('a refusal that may be about one transfer stops nothing: it counts for this record, which gets attention', async () => {
  const met: string[] = [];
  const faults = {
    reportOfOne: async (provider: string, name: string, of: { record: string; tenant: string }) =>
      void met.push(`${provider}/${name}/${of.tenant}/${of.record}`),
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
  expect(met).toEqual([`paystack/bad_request/${record.tenant_id}/${record._id}`]);
  expect(raised).toEqual([record._id]);
});

describe('the records that meet a refusal that may be about one of them', () => {
  const START = Date.parse('2026-11-26T09:00:00.000Z');
  let fault: Required<Pick<ProviderFault, 'met_by' | 'ended_at'>>;
  beforeEach(() => void (fault = { met_by: [], ended_at: null }));

  /** The number of records that count once this one has met the fault, so many minutes after the start. */
  function meet(record: string, tenant: string, minute = 0): number {
    const at = new Date(START + minute * 60_000);
    fault = { met_by: metByWith(fault, { record, tenant, at }), ended_at: null };
    return fault.met_by.length;
  }

  test('count once each, however often they meet it', () => {
    expect([meet('a', 't1'), meet('a', 't1'), meet('b', 't2')]).toEqual([1, 1, 2]);
  });

  test('are never many if all are of one tenant', () => {
    const counts = Array.from({ length: 20 }, (_, i) => meet(`r${i}`, 't1'));
    expect(Math.max(...counts)).toBe(MANY_RECORDS - 1);
    expect(meet('other', 't2')).toBe(MANY_RECORDS);
  });

  test('are many if those of several tenants meet it within an hour, also again', () => {
    const tenants = ['t1', 't2', 't3', 't4', 't5', 't6'];
    expect(tenants.map((tenant, i) => meet(`r${i}`, tenant, i))).toEqual([1, 2, 3, 4, 5, 5]);
  });

  test('do not count for longer than an hour', () => {
    for (let i = 0; i < 4; i += 1) meet(`r${i}`, 't1', i);
    expect(meet('late', 't2', 62)).toBe(2);
  });

  test('begin anew once the fault has ended', () => {
    meet('a', 't1');
    fault.ended_at = new Date();
    expect(meet('b', 't2')).toBe(1);
    expect(metByWith(null, { record: 'a', tenant: 't1', at: new Date(START) })).toHaveLength(1);
  });
});

test('a float that covers an amount but not the provider’s fee is not back', () => {
  const fault = { needed_minor: 1_000_000n };
  expect(isFloatBack(fault, { feeAtMostMinor: 10_000n }, 1_000_000n)).toBe(false);
  expect(isFloatBack(fault, { feeAtMostMinor: 10_000n }, 1_010_000n)).toBe(true);
  expect(isFloatBack(fault, {}, 1_000_000n)).toBe(true);
  expect(isFloatBack({ needed_minor: null }, { feeAtMostMinor: 10_000n }, 0n)).toBe(true);
});
