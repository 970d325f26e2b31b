import * as fc from 'fast-check';
import { addressSubject, resolveAddress } from '../../../src/platform/http/client-address.js';

const resolve = (trustedProxies: number, forwardedFor: string, socketAddress = '10.0.0.1') =>
  resolveAddress({ socketAddress, forwardedFor, trustedProxies });

test('without trusted proxies the address of the socket is used', () => {
  expect(resolve(0, '203.0.113.9')).toBe('10.0.0.1');
  expect(resolve(0, '', '::ffff:10.0.0.1')).toBe('10.0.0.1');
});

test('with trusted proxies the entry of the outermost one is used', () => {
  expect(resolve(1, '203.0.113.9')).toBe('203.0.113.9');
  expect(resolve(2, '203.0.113.9, 10.0.0.2')).toBe('203.0.113.9');
  expect(resolve(1, ' 2001:DB8:0::1 ')).toBe('2001:db8::1');
});

test('entries that a client adds to X-Forwarded-For never change the address', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())), (forged) => {
      const header = [...forged.map((text) => text.replaceAll(',', '')), '203.0.113.9', '10.0.0.2'];
      expect(resolve(2, header.join(','))).toBe('203.0.113.9');
    }),
  );
});

test('a chain of proxies that is too short, or an entry that is not an address, is not trusted', () => {
  expect(resolve(2, '203.0.113.9')).toBe('10.0.0.1');
  expect(resolve(1, '')).toBe('10.0.0.1');
  expect(resolve(1, 'unknown')).toBe('10.0.0.1');
  expect(resolve(1, '1')).toBe('10.0.0.1');
  expect(resolve(1, '203.0.113.9', '')).toBe('203.0.113.9');
  expect(resolve(0, '', '')).toBe('unknown');
});

test('IPv6 addresses are counted by /64, IPv4 addresses one by one', () => {
  expect(addressSubject('203.0.113.9')).toBe('203.0.113.9');
  expect(addressSubject('2001:db8:1:2:3::4')).toBe('2001:db8:1:2::/64');
  expect(addressSubject('2001:db8:1:2:ffff::1')).toBe('2001:db8:1:2::/64');
  expect(addressSubject('fe80::1%eth0')).toBe('fe80::/64');
  expect(addressSubject('unknown')).toBe('unknown');
});

test('a port that a proxy appends to the address is removed', () => {
  expect(resolve(1, '203.0.113.9:4711')).toBe('203.0.113.9');
  expect(resolve(1, '[2001:db8::1]:4711')).toBe('2001:db8::1');
  expect(resolve(1, '[2001:db8::1]')).toBe('2001:db8::1');
  expect(resolve(1, '2001:db8::4711')).toBe('2001:db8::4711');
  expect(resolve(1, '203.0.113.9:port')).toBe('10.0.0.1');
});
