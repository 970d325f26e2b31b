import * as fc from 'fast-check';
import {
  generateKey,
  hashKey,
  isRotationDue,
  parseKey,
} from '../../../src/platform/api-keys/api-key.js';

const kinds = fc.constantFrom('secret' as const, 'public' as const);
const environments = fc.constantFrom('sandbox' as const, 'live' as const);
const aKey = fc
  .tuple(kinds, environments)
  .map(([kind, environment]) => generateKey(kind, environment));
const BASE62 = Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');

test('a generated key names its kind and environment, and its checksum is right', () => {
  fc.assert(
    fc.property(kinds, environments, (kind, environment) => {
      const key = generateKey(kind, environment);
      const prefix = `${kind === 'secret' ? 'sk' : 'pk'}_${environment}_`;
      expect(key.startsWith(prefix)).toBe(true);
      expect(key.slice(prefix.length)).toMatch(/^[0-9A-Za-z]{38}$/);
      expect(parseKey(key)).toEqual({ kind, environment, intact: true });
    }),
  );
});

test('the checksum of a key detects every single-character typo', () => {
  fc.assert(
    fc.property(aKey, fc.nat(), fc.constantFrom(...BASE62), (key, at, typo) => {
      const index = at % key.length;
      fc.pre(key[index] !== typo);
      const parsed = parseKey(key.slice(0, index) + typo + key.slice(index + 1));
      expect(parsed?.intact ?? false).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

test('the checksum of a key detects swapped neighbours and a lost or added character', () => {
  fc.assert(
    fc.property(
      aKey,
      fc.integer({ min: 11, max: 40 }),
      fc.constantFrom(...BASE62),
      (key, at, extra) => {
        const [a = '', b = ''] = [key[at], key[at + 1]];
        fc.pre(a !== b);
        const typos = [
          key.slice(0, at) + b + a + key.slice(at + 2),
          key.slice(0, at) + key.slice(at + 1),
          key.slice(0, at) + extra + key.slice(at),
        ];
        for (const typo of typos) expect(parseKey(typo)?.intact ?? false).toBe(false);
      },
    ),
  );
});

test('parsing a key never throws, whatever the input', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `sk_live_${text}`),
      ),
      (token) => {
        expect(parseKey(token)?.intact ?? false).toBe(false);
      },
    ),
  );
});

test('generated keys do not repeat, and their hash depends on the pepper', () => {
  const keys = Array.from({ length: 1_000 }, () => generateKey('secret', 'sandbox'));
  expect(new Set(keys).size).toBe(1_000);
  const [key = ''] = keys;
  expect(hashKey(key, 'one')).toBe(hashKey(key, 'one'));
  expect(hashKey(key, 'one')).not.toBe(hashKey(key, 'two'));
  expect(hashKey(key, 'one')).not.toContain(key.slice(11));
});

test('rotation of a key is due after 90 days', () => {
  const created = new Date('2026-01-01T00:00:00Z');
  expect(isRotationDue(created, new Date('2026-04-01T00:00:00Z'))).toBe(false);
  expect(isRotationDue(created, new Date('2026-04-01T00:00:01Z'))).toBe(true);
});
