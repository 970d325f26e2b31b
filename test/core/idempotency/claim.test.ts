import fc from 'fast-check';
import { ApiError } from '../../../src/shared/errors.js';
import { readClaim, type KeyOwner } from '../../../src/core/idempotency/with-idempotency.js';

const NOW = new Date('2026-05-04T10:00:00.000Z');
const OWNER: KeyOwner = { tenantId: 'ten_a', kind: 'secret' };

type Request = Parameters<typeof readClaim>[0];

const claim = (changes: Partial<Request> = {}) =>
  readClaim({
    owner: OWNER,
    method: 'POST',
    path: '/api/v1/transfers',
    header: 'k',
    body: { amount_minor: 1 },
    now: NOW,
    ...changes,
  });

const withBody = (body: Record<string, unknown>) => claim({ body })?.fingerprint;

function refusedField(changes: Partial<Request>): string | undefined {
  try {
    claim(changes);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_error') return error.field;
    throw error;
  }
  return 'not refused';
}

test('a request without a key claims none', () => {
  expect(claim({ header: undefined })).toBeNull();
});

test('an idempotency key in the header, in quotes, in the body, or equal in both is one key for 24 hours', () => {
  const header = claim({ header: 'abc' });
  const body = { amount_minor: 1, idempotency_key: 'abc' };
  expect(claim({ header: '"abc"' })).toEqual(header);
  expect(claim({ header: undefined, body })).toEqual(header);
  expect(claim({ header: '"abc"', body })).toEqual(header);
  const escaped = { header: '"a \\"b\\" \\\\c"', body: { ...body, idempotency_key: 'a "b" \\c' } };
  expect(claim(escaped)?.id).toBe('ten_a/secret/a "b" \\c');
  expect(header?.expiresAt).toEqual(new Date('2026-05-05T10:00:00.000Z'));
});

test('different keys in header and body are refused, as are keys that are not 1 to 255 printable ASCII characters', () => {
  const differing = { header: 'abc', body: { idempotency_key: 'abd' } };
  expect(refusedField(differing)).toBe('idempotency_key');
  for (const key of ['', 'a\tb', 'a\u007f', 'clé', 'k'.repeat(256)]) {
    expect(refusedField({ header: undefined, body: { idempotency_key: key } })).toBe(
      'idempotency_key',
    );
    expect(refusedField({ header: `"${key}"` })).toBe('Idempotency-Key');
  }
  for (const key of [1, null, ['k'], { k: 1 }]) {
    expect(refusedField({ header: undefined, body: { idempotency_key: key } })).toBe(
      'idempotency_key',
    );
  }
  expect(claim({ header: `"${'k'.repeat(255)}"` })?.id).toHaveLength(255 + 'ten_a/secret/'.length);
});

test('claims of different tenants, and of a tenant’s secret and public keys, never collide', () => {
  const owners: KeyOwner[] = [
    OWNER,
    { tenantId: 'ten_b', kind: 'secret' },
    { tenantId: 'ten_a', kind: 'public' },
  ];
  expect(new Set(owners.map((owner) => claim({ owner })?.id)).size).toBe(owners.length);
});

test('another method, path or value makes another fingerprint, and another order of fields does not', () => {
  const same = claim()?.fingerprint;
  expect(claim({ method: 'PUT' })?.fingerprint).not.toBe(same);
  expect(claim({ path: '/api/v1/cards' })?.fingerprint).not.toBe(same);
  expect(withBody({ amount_minor: 2 })).not.toBe(same);
  expect(withBody({ amount_minor: '1' })).not.toBe(same);
  expect(withBody({ amount_minor: 1, note: null })).not.toBe(same);
  expect(withBody({ a: { b: 1, c: [1, 2] }, d: 2 })).toBe(
    withBody({ d: 2, a: { c: [1, 2], b: 1 } }),
  );
  expect(withBody({ list: [1, 2] })).not.toBe(withBody({ list: [2, 1] }));
});

test('two bodies have one fingerprint exactly when they are the same JSON', () => {
  const body = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 3,
  });
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, part]) => [name, sorted(part)] as const);
    return { object: entries.toSorted(([a], [b]) => (a < b ? -1 : 1)) };
  };
  fc.assert(
    fc.property(body, body, (one, other) => {
      fc.pre(!('idempotency_key' in one) && !('idempotency_key' in other));
      const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      expect(withBody(one) === withBody(other)).toBe(same);
    }),
  );
});
