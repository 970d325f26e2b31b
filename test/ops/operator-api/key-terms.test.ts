import { daysOfSuccessor, termsOfNewKey } from '../../../src/ops/operator-api/keys.js';

const body = { public: false, level: 'write', any_address: false } as const;

test('a live key expires after a year unless told otherwise; a sandbox key does not', () => {
  const addresses = { allowed_ips: ['10.0.0.0/8'] };
  expect(termsOfNewKey('live', { ...body, ...addresses })).toEqual({ days: 365 });
  expect(termsOfNewKey('live', { ...body, ...addresses, expires_in_days: 30 }).days).toBe(30);
  expect(termsOfNewKey('sandbox', body).days).toBeUndefined();
});

test('a live key that does not expire has a successor that does; others keep the lifetime of the key', () => {
  const [endless, brief] = [{ expiresAt: null }, { expiresAt: new Date() }];
  expect(daysOfSuccessor('live', endless, undefined)).toBe(365);
  expect(daysOfSuccessor('live', endless, 30)).toBe(30);
  expect(daysOfSuccessor('live', brief, undefined)).toBeUndefined();
  expect(daysOfSuccessor('sandbox', endless, undefined)).toBeUndefined();
});

test.each([
  ['with all scopes', {}],
  ['for transfers', { scopes: ['transfers', 'webhooks'] }],
  ['for bill payments', { level: 'admin', scopes: ['billpay'] }],
] as const)(
  'a live key %s can pay out, so it names its addresses or says that it has none',
  (_, of) => {
    const given = { ...body, ...of, scopes: 'scopes' in of ? [...of.scopes] : undefined };
    expect(() => termsOfNewKey('live', given)).toThrow(/can pay out/);
    expect(() => termsOfNewKey('live', { ...given, allowed_ips: ['10.0.0.0/8'] })).not.toThrow();
    expect(() => termsOfNewKey('live', { ...given, any_address: true })).not.toThrow();
    expect(() => termsOfNewKey('sandbox', given)).not.toThrow();
  },
);

test.each([
  ['a public key', { public: true }],
  ['a key that reads', { level: 'read' }],
  ['a key for payments alone', { scopes: ['payments'] }],
] as const)('%s cannot pay out, so it needs no addresses in live', (_, of) => {
  const given = { ...body, ...of, scopes: 'scopes' in of ? [...of.scopes] : undefined };
  expect(() => termsOfNewKey('live', given)).not.toThrow();
});
