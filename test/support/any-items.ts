import fc from 'fast-check';
import type { Item } from '../../src/ledger/kinds.js';
import type { BulkItem } from '../../src/transfers/items.js';
import { acceptItem, bulkItem, byProvider, claimOf, NOW, pendingTransfer } from './transfers.js';

export const TENANTS = ['ten_a', 'ten_b'];
/** Ids and their amounts: few, so that facts meet transfers that were accepted. */
const IDS = Array.from({ length: 4 }, (_, i) => i);
const ownId = (tenant: string, id: number) => `${tenant}-trf-${id}`;
const amountOf = (id: number) => BigInt(id + 1) * 37n;

export const YESTERDAY = new Date(NOW.getTime() - 25 * 60 * 60 * 1000);
/** A key that was claimed yesterday has expired. */
const keyedAt = fc.constantFrom(NOW, NOW, NOW, YESTERDAY);

/** Few tenants, ids, keys and references, so that everything collides with everything. */
const single: fc.Arbitrary<Item> = fc.oneof(
  fc
    .record({
      tenant: fc.constantFrom(...TENANTS),
      id: fc.constantFrom(...IDS),
      reference: fc.option(fc.constantFrom('r1', 'r2', 'r3')),
      key: fc.option(fc.constantFrom('k1', 'k2', 'k3')),
      fingerprint: fc.constantFrom('f', 'g'),
      at: keyedAt,
      limit: fc.constantFrom(500n, 10_000n),
    })
    .map(({ tenant, id, reference, key, fingerprint, at, limit }) => {
      const own = ownId(tenant, id);
      const transfer = pendingTransfer({
        _id: own,
        tenant,
        amount_minor: amountOf(id),
        fee_minor: 3n,
        reference: reference ?? own,
        created_at: new Date(NOW.getTime() - id * 9 * 60 * 60 * 1000),
      });
      return acceptItem(transfer, {
        dailyLimitMinor: limit,
        claim: key === null ? null : claimOf(`${tenant}/${key}`, fingerprint, at),
      });
    }),
  fc
    .record({
      tenant: fc.constantFrom(...TENANTS),
      id: fc.constantFrom(...IDS),
      // Late payments and their adoption need three facts in a row: make them likely.
      kind: fc.constantFrom(
        ...([
          'paid',
          'paid',
          'refused',
          'refused',
          'reversed',
          'confirmed',
          'no_such_account',
        ] as const),
      ),
    })
    .map(({ tenant, id, kind }): Item => {
      const about = { amountMinor: null, sessionId: null };
      const fact =
        kind === 'refused'
          ? { ...byProvider, kind, code: 'account_closed' }
          : kind === 'confirmed'
            ? { ...byProvider, kind }
            : { ...byProvider, kind: kind as 'paid', ...about };
      return { kind: 'transferFact', tenant, id: ownId(tenant, id), fact: fact as never };
    }),
  fc
    .record({
      tenant: fc.constantFrom(...TENANTS),
      amount: fc.bigInt(1n, 120n),
      reference: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
    })
    .map(({ tenant, amount, reference }): Item => ({
      kind: 'credit',
      tenant,
      id: `credit/${tenant}/${reference}`,
      amountMinor: amount,
    })),
);

/** A batch, which must come to what its items would come to alone. */
export const bulk: fc.Arbitrary<BulkItem> = fc
  .record({
    tenant: fc.constantFrom(...TENANTS),
    batch: fc.constantFrom('btr_1', 'btr_2'),
    key: fc.option(fc.constantFrom('k1', 'k2', 'k3')),
    fingerprint: fc.constantFrom('f', 'g'),
    limit: fc.constantFrom(500n, 10_000n),
    references: fc.array(fc.option(fc.constantFrom('r1', 'r2', 'r3')), { maxLength: 4 }),
  })
  .map(({ tenant, batch, key, fingerprint, limit, references }) => {
    const _id = `${tenant}-${batch}`;
    const transfers = references.map((reference, i) => {
      const own = `${_id}-${i}`;
      const amounts = { amount_minor: amountOf(i), fee_minor: 3n };
      return pendingTransfer({ _id: own, tenant, ...amounts, reference: reference ?? own });
    });
    return bulkItem(tenant, _id, transfers, {
      dailyLimitMinor: limit,
      claim: key === null ? null : claimOf(`${tenant}/${key}`, fingerprint),
    });
  });

export const item: fc.Arbitrary<Item> = fc.oneof(
  { arbitrary: single, weight: 6 },
  { arbitrary: bulk, weight: 1 },
);

/** A refusal that was found before the commit. */
export const refusal: fc.Arbitrary<Item> = fc
  .record({
    tenant: fc.constantFrom(...TENANTS),
    key: fc.constantFrom('k1', 'k2', 'k3'),
    fingerprint: fc.constantFrom('f', 'g'),
  })
  .map(({ tenant, key, fingerprint }) => ({
    kind: 'refusal',
    tenant,
    claim: claimOf(`${tenant}/${key}`, fingerprint),
    answer: { status: 422, body: 'invalid_account' },
  }));

export const history = fc.array(item, { maxLength: 90, size: 'max' });
export const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 90, size: 'max' });

export function split(items: Item[], sizes: number[]): Item[][] {
  const batches: Item[][] = [];
  for (let at = 0, i = 0; at < items.length; i += 1) {
    const size = sizes[i] ?? 3;
    batches.push(items.slice(at, at + size));
    at += size;
  }
  return batches;
}
