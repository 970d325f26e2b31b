import { type Named, type AnyMutation } from './mutations.js';
import fc from 'fast-check';
import {
  acceptTransferMutation,
  createBulkTransferMutation,
  byProvider,
  claimOf,
  NOW,
  pendingTransfer,
} from './transfers.js';

/** The tenants of the generated mutations. */
export const TENANTS = ['ten_a', 'ten_b'];
/** Few ids with their amounts, so that facts often meet accepted transfers. */
const IDS = Array.from({ length: 4 }, (_, i) => i);
const ownId = (tenantId: string, id: number) => `${tenantId}-trf-${id}`;
const amountOf = (id: number) => BigInt(id + 1) * 37n;

/** A time at which a claimed key has expired by now. */
export const YESTERDAY = new Date(NOW.getTime() - 25 * 60 * 60 * 1000);
/** A key that was claimed yesterday has expired. */
const keyedAt = fc.constantFrom(NOW, NOW, NOW, YESTERDAY);

/** Few tenants, ids, keys and references, so that collisions are frequent. */
const single: fc.Arbitrary<AnyMutation> = fc.oneof(
  fc
    .record({
      tenantId: fc.constantFrom(...TENANTS),
      id: fc.constantFrom(...IDS),
      reference: fc.option(fc.constantFrom('r1', 'r2', 'r3')),
      key: fc.option(fc.constantFrom('k1', 'k2', 'k3')),
      fingerprint: fc.constantFrom('f', 'g'),
      at: keyedAt,
      limit: fc.constantFrom(500n, 10_000n),
    })
    .map(({ tenantId, id, reference, key, fingerprint, at, limit }) => {
      const own = ownId(tenantId, id);
      const transfer = pendingTransfer({
        _id: own,
        tenant_id: tenantId,
        amount_minor: amountOf(id),
        fee_minor: 3n,
        reference: reference ?? own,
        created_at: new Date(NOW.getTime() - id * 9 * 60 * 60 * 1000),
      });
      return acceptTransferMutation(transfer, {
        dailyLimitMinor: limit,
        claim: key === null ? null : claimOf(`${tenantId}/${key}`, fingerprint, at),
      });
    }),
  fc
    .record({
      tenantId: fc.constantFrom(...TENANTS),
      id: fc.constantFrom(...IDS),
      // A late payment with its suspense debit needs three facts in a row, so these are made likely.
      kind: fc.constantFrom(
        ...([
          'succeeded',
          'succeeded',
          'rejected',
          'rejected',
          'reversed',
          'operator_confirmed',
          'no_such_account',
        ] as const),
      ),
    })
    .map(({ tenantId, id, kind }): AnyMutation => {
      const about = { amountMinor: null, sessionId: null };
      const fact =
        kind === 'rejected'
          ? { ...byProvider, kind, code: 'account_closed' }
          : kind === 'operator_confirmed'
            ? { ...byProvider, kind }
            : { ...byProvider, kind: kind as 'succeeded', ...about };
      return { kind: 'applyTransferFact', tenantId, id: ownId(tenantId, id), fact: fact as never };
    }),
  fc
    .record({
      tenantId: fc.constantFrom(...TENANTS),
      amount: fc.bigInt(1n, 120n),
      reference: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
    })
    .map(({ tenantId, amount, reference }): AnyMutation => ({
      kind: 'applyCredit',
      tenantId,
      id: `credit/${tenantId}/${reference}`,
      amountMinor: amount,
    })),
);

/** A bulk transfer, whose result must equal that of its items one by one. */
export const anyBulkTransfer: fc.Arbitrary<Named<'acceptBulkTransfer'>> = fc
  .record({
    tenantId: fc.constantFrom(...TENANTS),
    batch: fc.constantFrom('btr_1', 'btr_2'),
    key: fc.option(fc.constantFrom('k1', 'k2', 'k3')),
    fingerprint: fc.constantFrom('f', 'g'),
    limit: fc.constantFrom(500n, 10_000n),
    references: fc.array(fc.option(fc.constantFrom('r1', 'r2', 'r3')), { maxLength: 4 }),
  })
  .map(({ tenantId, batch, key, fingerprint, limit, references }) => {
    const _id = `${tenantId}-${batch}`;
    const transfers = references.map((reference, i) => {
      const own = `${_id}-${i}`;
      const amounts = { amount_minor: amountOf(i), fee_minor: 3n };
      return pendingTransfer({
        _id: own,
        tenant_id: tenantId,
        ...amounts,
        reference: reference ?? own,
      });
    });
    return createBulkTransferMutation(tenantId, _id, transfers, {
      dailyLimitMinor: limit,
      claim: key === null ? null : claimOf(`${tenantId}/${key}`, fingerprint),
    });
  });

/** A mutation, or a bulk transfer. */
export const anyMutation: fc.Arbitrary<AnyMutation> = fc.oneof(
  { arbitrary: single, weight: 6 },
  { arbitrary: anyBulkTransfer, weight: 1 },
);

/** A refusal that was decided before the commit. */
export const anyRefusal: fc.Arbitrary<AnyMutation> = fc
  .record({
    tenantId: fc.constantFrom(...TENANTS),
    key: fc.constantFrom('k1', 'k2', 'k3'),
    fingerprint: fc.constantFrom('f', 'g'),
  })
  .map(({ tenantId, key, fingerprint }) => ({
    kind: 'saveRefusal',
    tenantId,
    claim: claimOf(`${tenantId}/${key}`, fingerprint),
    answer: { status: 422, body: 'invalid_account' },
  }));

/** A sequence of mutations. */
export const anyHistory = fc.array(anyMutation, { maxLength: 90, size: 'max' });
/** The sizes of the batches that a history is split into. */
export const anyCuts = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 90, size: 'max' });

/** Splits mutations into batches of these sizes. */
export function split(mutations: AnyMutation[], sizes: number[]): AnyMutation[][] {
  const batches: AnyMutation[][] = [];
  for (let at = 0, i = 0; at < mutations.length; i += 1) {
    const size = sizes[i] ?? 3;
    batches.push(mutations.slice(at, at + size));
    at += size;
  }
  return batches;
}
