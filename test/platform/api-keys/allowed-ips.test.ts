import { canonicalRange, createAllowList } from '../../../src/platform/api-keys/allowed-ips.js';

test.each([
  ['10.0.0.0/8', '10.255.0.1', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['203.0.113.7', '203.0.113.7', true],
  ['203.0.113.7', '203.0.113.8', false],
  ['203.0.113.7', '::ffff:203.0.113.7', true],
  ['::ffff:10.0.0.0/104', '10.1.2.3', true],
  ['2001:db8::/32', '2001:db8:1::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['2001:db8::/32', '10.0.0.1', false],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['0.0.0.0/0', '198.51.100.1', true],
])('an allow-list of %s answers for the address %s: %s', (entry, address, allowed) => {
  expect(createAllowList([entry])(address)).toBe(allowed);
});

test('an empty allow-list allows every address; any other refuses an address that cannot be parsed', () => {
  expect(createAllowList([])('unknown')).toBe(true);
  expect(createAllowList(['0.0.0.0/0', '::/0'])('unknown')).toBe(false);
});

test.each([
  '',
  'localhost',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.1',
  '010.0.0.1',
  '0x7f.1',
  '2001:db8::/129',
  '1',
  '10.0.0.1 ',
  '::ffff:10.0.0.0/64',
])('%p is refused as an entry of an allow-list', (text) => {
  expect(canonicalRange(text)).toBeNull();
});
