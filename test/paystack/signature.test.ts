import { createHmac, randomBytes } from 'node:crypto';
import { signedBy } from '../../src/core/providers/paystack/signature.js';

const KEY = 'sk_test_abc';
const sign = (key: string, body: Buffer): string =>
  createHmac('sha512', key).update(body).digest('hex');

describe('the signature of a message', () => {
  test('the published vector is accepted', () => {
    const body = Buffer.from('{"event":"charge.success","data":{"id":1}}');
    const signature =
      'c0ba191687e5af78ab6391f813d5c6ce03c3f86384c26db8d03c44f3d3f17aae816b202fa46a67e59bf9a15d2b0289249f7a73ae53838f29d1afbc2317076a05';
    expect(signedBy([KEY], body, signature)).toBe(KEY);
  });

  test('a thousand random bodies are accepted, and each is refused with one bit flipped', () => {
    for (let i = 0; i < 1_000; i += 1) {
      const body = randomBytes(1 + (i % 300));
      const signature = sign(KEY, body);
      expect(signedBy([KEY], body, signature)).toBe(KEY);
      const at = i % body.length;
      const flipped = Buffer.from(body);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (i % 8));
      expect(signedBy([KEY], flipped, signature)).toBeUndefined();
      const wrong = Buffer.from(signature, 'hex');
      wrong[i % 64] = (wrong[i % 64] ?? 0) ^ 1;
      expect(signedBy([KEY], body, wrong.toString('hex'))).toBeUndefined();
    }
  });

  test('each of several keys verifies, and no other key does', () => {
    const body = Buffer.from('{}');
    const keys = ['sk_test_new', 'sk_test_old'];
    for (const key of keys) expect(signedBy(keys, body, sign(key, body))).toBe(key);
    expect(signedBy(keys, body, sign('sk_test_other', body))).toBeUndefined();
    expect(signedBy([], body, sign(KEY, body))).toBeUndefined();
  });

  test.each([undefined, '', 'zz', 'c0ba', `${'0'.repeat(127)}g`])(
    'a signature that is none is refused: %j',
    (signature) => {
      expect(signedBy([KEY], Buffer.from('{}'), signature)).toBeUndefined();
    },
  );
});
