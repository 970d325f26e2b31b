import { isPageOf } from '../../src/core/providers/paystack/charge-calls.js';

test.each([
  ['https://checkout.paystack.com/abc', true, true],
  ['https://paystack.co/abc', true, true],
  ['http://checkout.paystack.com/abc', true, false],
  ['https://checkout.paystack.com.evil.example/abc', true, false],
  ['https://evil.example/paystack.com', true, false],
  ['http://127.0.0.1:8095/checkout/abc', false, true],
  ['http://127.0.0.1:8096/checkout/abc', false, false],
])('customers are sent to %s only if it is a page of Paystack', (address, isOfficial, expected) => {
  const url = isOfficial ? 'https://api.paystack.co' : 'http://127.0.0.1:8095';
  expect(isPageOf(address, { url, isOfficial, domain: 'test' })).toBe(expected);
});

test('a page without https is none beside an https base URL', () => {
  const settings = { url: 'https://paystack.test', isOfficial: false, domain: 'live' } as const;
  expect(isPageOf('http://paystack.test/checkout/abc', settings)).toBe(false);
  expect(isPageOf('https://paystack.test/checkout/abc', settings)).toBe(true);
});
