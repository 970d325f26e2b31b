import { deserialize, serialize } from 'node:v8';
import { type RecordSet } from '../../../src/core/commit/collection.js';
import { forwardedMutations } from '../../../src/composition/capabilities.js';
import type { AnyMutation } from '../../support/mutations.js';
import { bulkTransfers } from '../../../src/capabilities/bulk-transfers/record.js';
import fc from 'fast-check';
import {
  NeedsFullRead,
  type Snapshot,
  createRecordSet,
} from '../../../src/core/commit/unit-of-work.js';
import {
  transfers,
  type Transfer,
  countChange,
  sumChanges,
  type CountChange,
} from '../../../src/capabilities/transfers/record.js';
import { holdOf } from '../../../src/core/outgoing-payments/outgoing-payment.js';
import { holdPosting } from '../../../src/core/ledger/posting.js';
import { emptyWallet, lagosDay } from '../../../src/core/ledger/wallet.js';
import { decide, balances, collides, firstSight, run } from '../../support/decisions.js';
import {
  acceptTransferMutation,
  byProvider,
  claimOf,
  emptySnapshot,
  NOW,
  pendingTransfer,
} from '../../support/transfers.js';
import {
  TENANTS,
  YESTERDAY,
  anyBulkTransfer,
  anyMutation,
  anyRefusal,
  anyHistory,
  anyCuts,
  split,
} from '../../support/any-mutations.js';

/** Record sets compare by their records. */
const plainOf = ({ writes, results }: ReturnType<typeof decide>) => ({
  results,
  writes: { ...writes, created: recordsOf(writes.created), changed: recordsOf(writes.changed) },
});
const recordsOf = (set: RecordSet) =>
  Object.fromEntries(set.collections().map((of) => [of.name, set.all(of)]));

describe('decide', () => {
  test('the grouping of mutations into commits changes no result and no balance', () => {
    fc.assert(
      fc.property(anyHistory, anyCuts, (mutations, sizes) => {
        const single = run(
          emptySnapshot(),
          mutations.map((one) => [one]),
        );
        const grouped = run(emptySnapshot(), split(mutations, sizes));
        const plain = (outcomes: unknown[]) =>
          JSON.stringify(outcomes, (_, v: unknown) => (typeof v === 'bigint' ? `${v}` : v));
        expect(plain(grouped.outcomes)).toBe(plain(single.outcomes));
        expect(balances(grouped.state)).toEqual(balances(single.state));
      }),
      { numRuns: 500 },
    );
  });

  test('mutations that processes forward are decided alike after serialization', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const mutations = history.filter(({ kind }) => Object.hasOwn(forwardedMutations, kind));
        const decided = (all: AnyMutation[]) =>
          run(
            emptySnapshot(),
            all.map((one) => [one]),
          );
        const here = decided(mutations);
        const there = decided(deserialize(serialize(mutations)) as AnyMutation[]);
        expect(deserialize(serialize(there.outcomes))).toEqual(here.outcomes);
        expect(balances(there.state)).toEqual(balances(here.state));
      }),
      { numRuns: 100 },
    );
  });

  test('after any history the ledger balances, and every wallet equals the sum of its postings and is not negative', () => {
    fc.assert(
      fc.property(anyHistory, anyCuts, (mutations, sizes) => {
        const { state } = run(emptySnapshot(), split(mutations, sizes));
        const sums = balances(state);
        expect([...sums.values()].reduce((total, sum) => total + sum, 0n)).toBe(0n);
        for (const tenantId of TENANTS) {
          const wallet = state.wallets.get(tenantId) ?? emptyWallet(tenantId);
          expect(wallet.availableMinor).toBe(sums.get(`wallet:${tenantId}:available`) ?? 0n);
          expect(wallet.availableMinor >= 0n).toBe(true);
          expect(wallet.limitUsedMinor >= 0n).toBe(true);
          expect(wallet.receivableMinor).toBe(-(sums.get(`receivable:${tenantId}`) ?? 0n));
          const open = state.records
            .all(transfers)
            .filter(
              (t) =>
                t.tenant_id === tenantId && (t.status === 'pending' || t.status === 'processing'),
            );
          const held = open.reduce((total, t) => total + t.total_minor, 0n);
          expect(sums.get(`wallet:${tenantId}:held`) ?? 0n).toBe(held);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('after any history the counts equal those of the records, and none was written without its wallet', () => {
    fc.assert(
      fc.property(anyHistory, anyCuts, (mutations, sizes) => {
        const { state, commits } = run(emptySnapshot(), split(mutations, sizes));
        for (const { counts, wallets } of commits) {
          const written = wallets.map(({ tenantId }) => tenantId);
          const counted = counts.flatMap(({ changes }) => changes as CountChange[]);
          expect(written).toEqual(expect.arrayContaining(counted.map(({ tenantId }) => tenantId)));
        }
        const counted = sumChanges(
          commits.flatMap(({ counts }) =>
            counts.flatMap(({ changes }) => changes as CountChange[]),
          ),
        );
        const records = state.records.all(transfers).flatMap((t) => countChange(null, t) ?? []);
        const key = (change: CountChange) => JSON.stringify(change);
        expect(counted.map(key).toSorted()).toEqual(sumChanges(records).map(key).toSorted());
      }),
      { numRuns: 500 },
    );
  });

  test('a batch repeated after a commit whose result was lost changes nothing and gets the same results', () => {
    fc.assert(
      fc.property(anyHistory, anyMutation, (before, last) => {
        fc.pre(last.kind !== 'applyTransferFact');
        const first = run(emptySnapshot(), split(before, []));
        const once = run(first.state, [[last]]);
        const twice = run(once.state, [[last]]);
        expect(balances(twice.state)).toEqual(balances(once.state));
        const answersOf = (outcomes: unknown) =>
          JSON.stringify(outcomes, (name, v: unknown) =>
            name === 'replayed' ? undefined : typeof v === 'bigint' ? `${v}` : v,
          );
        const [outcome] = once.outcomes;
        const accepted = outcome !== undefined && 'answer' in outcome && outcome.resource !== null;
        expect(accepted ? answersOf(twice.outcomes) : '').toBe(
          accepted ? answersOf(once.outcomes) : '',
        );
      }),
      { numRuns: 500 },
    );
  });

  test('a first attempt has the result of a full read, or collides, or requests a full read', () => {
    const resultCounts = { same: 0, collided: 0, unread: 0 };
    const sharing = fc.array(
      fc.oneof({ arbitrary: anyMutation, weight: 7 }, { arbitrary: anyRefusal, weight: 1 }),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(anyHistory, sharing, (before, mutations) => {
        const { state } = run(emptySnapshot(), split(before, []));
        try {
          const first = decide(firstSight(state, mutations), mutations, NOW);
          if (collides(state, first.writes)) return void (resultCounts.collided += 1);
          resultCounts.same += 1;
          expect(plainOf(first)).toEqual(plainOf(decide(state, mutations, NOW)));
        } catch (error) {
          if (!(error instanceof NeedsFullRead)) throw error;
          resultCounts.unread += 1;
        }
      }),
      { numRuns: 1_000 },
    );
    expect(Math.min(...Object.values(resultCounts))).toBeGreaterThan(20);
  });

  test('a batch has the results that its mutations would have one by one, in sequence', () => {
    fc.assert(
      fc.property(anyHistory, anyBulkTransfer, (before, batch) => {
        const { state } = run(emptySnapshot(), split(before, []));
        fc.pre(!state.records.has(bulkTransfers, batch.bulkTransfer._id));
        const together = run(state, [[{ ...batch, claim: null }]]);
        const alone = run(
          state,
          batch.transfers.map((transfer) => [
            acceptTransferMutation(transfer, { dailyLimitMinor: batch.dailyLimitMinor }),
          ]),
        );
        expect(balances(together.state)).toEqual(balances(alone.state));
        expect(together.state.records.all(transfers)).toEqual(alone.state.records.all(transfers));
        const made = together.state.records.get(bulkTransfers, batch.bulkTransfer._id);
        expect(made?.items.map(({ error }) => error?.code ?? null)).toEqual(
          alone.outcomes.map((outcome) => {
            if (!('answer' in outcome)) throw new Error('every item is answered');
            return outcome.resource ? null : JSON.parse(outcome.answer.body).error.code;
          }),
        );
      }),
      { numRuns: 500 },
    );
  });

  const holding = (transfer: Transfer) => {
    const records = createRecordSet();
    records.set(transfers, transfer);
    return records;
  };

  const funded = (available: bigint): Snapshot => ({
    ...emptySnapshot(),
    wallets: new Map([
      ['ten_a', { ...emptyWallet('ten_a'), availableMinor: available, version: 1n }],
    ]),
  });

  test('mutations in one commit each get their own result: accepted, refused, duplicate, replay, reused key', () => {
    const first = acceptTransferMutation(pendingTransfer({ reference: 'r1' }), {
      claim: claimOf('k1'),
    });
    const replay = acceptTransferMutation(pendingTransfer(), { claim: claimOf('k1') });
    const reused = acceptTransferMutation(pendingTransfer(), { claim: claimOf('k1', 'other') });
    const duplicate = acceptTransferMutation(pendingTransfer({ reference: 'r1' }));
    const poor = acceptTransferMutation(pendingTransfer({ amount_minor: 900_000n }), {
      claim: claimOf('k2'),
    });
    const last = acceptTransferMutation(pendingTransfer());
    const { results, writes } = decide(
      funded(600_000n),
      [first, replay, reused, duplicate, poor, last],
      NOW,
    );
    expect(results[0]).toMatchObject({
      kind: 'answered',
      resource: first.transfer._id,
      replayed: false,
    });
    expect(results[1]).toMatchObject({
      answer: first.answer,
      resource: first.transfer._id,
      replayed: true,
    });
    expect(results[2]).toEqual({ kind: 'key_reused' });
    const bodies = results.map((o) =>
      'answer' in o ? JSON.parse(o.answer.body.startsWith('{') ? o.answer.body : '{}') : {},
    );
    expect(bodies[3].error).toMatchObject({
      code: 'duplicate_reference',
      status: 422,
      details: { id: first.transfer._id },
    });
    expect(bodies[4].error).toMatchObject({
      code: 'insufficient_balance',
      details: { required: 901_000, available: 349_000 },
    });
    expect(results[5]).toMatchObject({ resource: last.transfer._id });
    expect(writes.created.all(transfers).map((t) => t._id)).toEqual([
      first.transfer._id,
      last.transfer._id,
    ]);
    expect(writes.newKeys.map((k) => k.id)).toEqual(['k1', 'k2']);
    expect(writes.wallets).toMatchObject([{ availableMinor: 98_000n, version: 2n }]);
  });

  test('a refusal saves its response under the key, and uses no reference, no limit and no money', () => {
    const poor = acceptTransferMutation(pendingTransfer({ reference: 'r1' }), {
      claim: claimOf('k'),
    });
    const { results, writes } = decide(funded(10n), [poor], NOW);
    expect(results).toMatchObject([{ resource: null, replayed: false, answer: { status: 422 } }]);
    expect(writes.created.all(transfers)).toEqual([]);
    expect(writes).toMatchObject({
      postings: [],
      wallets: [],
      newKeys: [{ id: 'k', resource: null }],
    });
  });

  test('a record keeps the id of the request that created it, with and without a key, and no other in the batch has it', () => {
    const requests = [
      { ...claimOf('k'), requestId: 'req-with-key' },
      { id: null, requestId: 'req-without-key' },
      null,
    ];
    const accepted = requests.map((claim) => acceptTransferMutation(pendingTransfer(), { claim }));
    const [first] = accepted;
    const { writes } = decide(funded(10_000_000n), accepted, NOW);
    const ids = Object.fromEntries(
      writes.created.all(transfers).map((each) => [each._id, each.http_request_id]),
    );
    expect(accepted.map(({ transfer }) => ids[transfer._id])).toEqual([
      'req-with-key',
      'req-without-key',
      undefined,
    ]);
    expect(writes.newKeys.map(({ id, resource }) => [id, resource])).toEqual([
      ['k', first?.transfer._id],
    ]);
  });

  test('an expired key is free and is replaced by the request that uses it', () => {
    const old = {
      ...claimOf('k', 'old', YESTERDAY),
      tenantId: 'ten_a',
      answer: { status: 201, body: 'old' },
      resource: 'x',
    };
    const snapshot = { ...funded(600_000n), keys: new Map([['k', old]]) };
    const fresh = acceptTransferMutation(pendingTransfer(), { claim: claimOf('k') });
    const { results, writes } = decide(snapshot, [fresh], NOW);
    expect(results).toMatchObject([{ resource: fresh.transfer._id, replayed: false }]);
    expect(writes).toMatchObject({
      newKeys: [],
      renewedKeys: [{ id: 'k', resource: fresh.transfer._id }],
    });
  });

  test('the daily limit reports limit and use, counts per day of Lagos, and a failed transfer restores its amount', () => {
    const limit = { dailyLimitMinor: 500_000n };
    const [a, b] = [
      acceptTransferMutation(pendingTransfer(), limit),
      acceptTransferMutation(pendingTransfer({ amount_minor: 250_001n }), limit),
    ];
    const first = run(funded(10_000_000n), [[a, b]]);
    expect(first.outcomes[1]).toMatchObject({ answer: { status: 422 } });
    const refusal = first.outcomes[1] as { answer: { body: string } };
    expect(JSON.parse(refusal.answer.body).error).toMatchObject({
      code: 'limit_exceeded',
      details: { limit: 500_000, used: 250_000 },
    });
    const released = run(first.state, [
      [
        {
          kind: 'applyTransferFact',
          tenantId: 'ten_a',
          id: a.transfer._id,
          fact: { ...byProvider, kind: 'rejected', code: 'x' },
        },
      ],
      [b],
    ]);
    expect(released.outcomes[1]).toMatchObject({ resource: b.transfer._id });
    const tomorrow = acceptTransferMutation(
      pendingTransfer({ amount_minor: 500_000n, limit_day: '2026-11-22' }),
      limit,
    );
    const yesterday = acceptTransferMutation(
      pendingTransfer({ amount_minor: 1n, limit_day: '2026-11-20' }),
      limit,
    );
    const nextDay = new Date(NOW.getTime() + 24 * 60 * 60 * 1000);
    const next = run(released.state, [[tomorrow], [yesterday]], nextDay);
    expect(next.outcomes[0]).toMatchObject({ resource: tomorrow.transfer._id });
    expect(next.outcomes[1]).toMatchObject({ resource: null });
    expect(lagosDay(new Date('2026-11-21T23:00:00Z'))).toBe('2026-11-22');
  });

  test('a capture does not touch the wallet document', () => {
    const transfer = pendingTransfer({ status: 'processing', submissions: 1 });
    const snapshot: Snapshot = {
      ...emptySnapshot(),
      records: holding(transfer),
      postings: new Map([[`${transfer._id}/hold`, holdPosting(holdOf(transfer))]]),
    };
    const fact = {
      ...byProvider,
      kind: 'succeeded',
      amountMinor: 250_000n,
      sessionId: 's',
    } as const;
    const { writes } = decide(
      snapshot,
      [{ kind: 'applyTransferFact', tenantId: 'ten_a', id: transfer._id, fact }],
      NOW,
    );
    expect(writes.wallets).toEqual([]);
    expect(writes.changed.all(transfers)).toMatchObject([{ status: 'completed', session_id: 's' }]);
    expect(writes.postings).toMatchObject([{ id: `${transfer._id}/resolve` }]);
  });

  test("a fact about another tenant's transfer finds nothing", () => {
    const transfer = pendingTransfer({ status: 'processing' });
    const snapshot = { ...emptySnapshot(), records: holding(transfer) };
    const fact = { ...byProvider, kind: 'rejected', code: 'x' } as const;
    const { results, writes } = decide(
      snapshot,
      [{ kind: 'applyTransferFact', tenantId: 'ten_b', id: transfer._id, fact }],
      NOW,
    );
    expect(results).toEqual([{ kind: 'no_such_transfer' }]);
    expect(writes.changed.all(transfers)).toEqual([]);
  });
});
