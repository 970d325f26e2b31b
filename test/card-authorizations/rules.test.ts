import { readFileSync } from 'node:fs';
import {
  DECLINES,
  evaluateAuthorization,
} from '../../src/capabilities/card-authorizations/rules.js';
import {
  OPEN_SECURITY,
  type Card,
  type CardSecurity,
} from '../../src/capabilities/cards/record.js';
import type { AuthorizationRequest } from '../../src/core/providers/card-issuer.js';
import { request } from '../support/authorizations.js';
import { openCard } from '../support/card-record.js';
import { NOW, TODAY } from '../support/transfers.js';

const rich = { available_minor: 1_000_000n };

function codeFor(
  card: Partial<Card>,
  changes: Partial<AuthorizationRequest> = {},
  { wallet: availableMinor = 0n, now = NOW } = {},
): string {
  const wallet = { availableMinor };
  const verdict = evaluateAuthorization(
    openCard({ ...rich, ...card }),
    wallet,
    request(changes),
    now,
  );
  return verdict.approved ? `approved of ${verdict.fundingSource}` : verdict.code;
}

const secured = (security: Partial<CardSecurity>): Partial<Card> => ({
  security: { ...OPEN_SECURITY, ...security },
});

describe('a payment with a card is declined', () => {
  test.each([
    ['pending', 'card_not_active'],
    ['failed', 'card_not_active'],
    ['locked', 'card_locked'],
    ['closed', 'card_closed'],
    ['expired', 'card_expired'],
  ] as const)('when the card is %s: %s', (status, code) => {
    expect(codeFor({ status })).toBe(code);
  });

  test('after the last moment of its month, as it is in Lagos', () => {
    const { issued } = openCard();
    const november = { issued: issued && { ...issued, expiry_month: 11, expiry_year: 2026 } };
    const at = (time: string) => codeFor(november, {}, { now: new Date(time) });
    expect(at('2026-11-30T22:59:59.999Z')).toBe('approved of card');
    expect(at('2026-11-30T23:00:00.000Z')).toBe('card_expired');
    expect(at('2027-01-01T00:00:00.000Z')).toBe('card_expired');
  });

  test.each(['online', 'pos', 'atm', 'contactless'] as const)(
    'on the channel %s alone, when that is off',
    (channel) => {
      const off = secured({ channels: { ...OPEN_SECURITY.channels, [channel]: false } });
      expect(codeFor(off, { channel })).toBe('channel_not_allowed');
      const others = (['online', 'pos', 'atm', 'contactless'] as const).filter(
        (each) => each !== channel,
      );
      for (const each of others) expect(codeFor(off, { channel: each })).toBe('approved of card');
    },
  );

  test('above the limit of one payment, and not at it', () => {
    const limited = secured({ per_transaction_limit_minor: 5_000n });
    expect(codeFor(limited, { amountMinor: 5_000n })).toBe('approved of card');
    expect(codeFor(limited, { amountMinor: 5_001n })).toBe('per_transaction_limit_exceeded');
  });

  test('an authorization beyond the daily limit is declined, on that day in Lagos only', () => {
    const spent = { day: TODAY, minor: 7_000n };
    const limited = { ...secured({ daily_limit_minor: 10_000n }), daily_spend: spent };
    expect(codeFor(limited, { amountMinor: 3_000n })).toBe('approved of card');
    expect(codeFor(limited, { amountMinor: 3_001n })).toBe('daily_limit_exceeded');
    const late = new Date(`${TODAY}T22:59:59.999Z`);
    expect(codeFor(limited, { amountMinor: 3_001n }, { now: late })).toBe('daily_limit_exceeded');
    const next = new Date(`${TODAY}T23:00:00.000Z`);
    expect(codeFor(limited, { amountMinor: 3_001n }, { now: next })).toBe('approved of card');
  });

  test('outside the countries that are allowed, if any are named', () => {
    const abroad = { merchant: { name: 'Shop', category: '5411', country: 'US' } };
    expect(codeFor(secured({ allowed_countries: ['NG', 'GH'] }), abroad)).toBe(
      'country_not_allowed',
    );
    expect(codeFor(secured({ allowed_countries: ['NG', 'US'] }), abroad)).toBe('approved of card');
    expect(codeFor({}, abroad)).toBe('approved of card');
  });

  test('at a merchant of a blocked category', () => {
    const betting = { merchant: { name: 'Bets', category: '7995', country: 'NG' } };
    const blocked = secured({ blocked_merchant_categories: ['7995'] });
    expect(codeFor(blocked, betting)).toBe('merchant_category_blocked');
    expect(codeFor(blocked)).toBe('approved of card');
  });

  test('for less than nothing, or in another currency', () => {
    expect(codeFor({}, { amountMinor: -1n })).toBe('invalid_amount');
    expect(codeFor({}, { currency: 'USD' })).toBe('currency_not_supported');
  });

  test('for more than there is, by one kobo', () => {
    const has = { available_minor: 5_000n };
    expect(codeFor(has, { amountMinor: 5_000n })).toBe('approved of card');
    expect(codeFor(has, { amountMinor: 5_001n }, { wallet: 1_000_000n })).toBe(
      'insufficient_balance',
    );
  });
});

describe('an account verification, of the amount zero,', () => {
  const verify = (card: Partial<Card>, changes: Partial<AuthorizationRequest> = {}) =>
    codeFor({ available_minor: 0n, ...card }, { amountMinor: 0n, ...changes });

  test('is approved where the card may pay, also without any balance and at the daily limit', () => {
    expect(verify({})).toBe('approved of card');
    expect(verify({ funding: 'jit' })).toBe('approved of card');
    const spent = { day: TODAY, minor: 7_000n };
    expect(verify({ ...secured({ daily_limit_minor: 7_000n }), daily_spend: spent })).toBe(
      'approved of card',
    );
  });

  test.each(['pending', 'failed', 'locked', 'closed', 'expired'] as const)(
    'is declined when the card is %s',
    (status) => expect(verify({ status })).toMatch(/^card_/),
  );

  test('with an amount holds nothing either, and counts against the limits', () => {
    const asked = request({ kind: 'verification', amountMinor: 5_000n });
    expect(evaluateAuthorization(openCard(), { availableMinor: 0n }, asked, NOW)).toMatchObject({
      approved: true,
      fundingSource: 'card',
      approvedMinor: 0n,
      holdMinor: 0n,
      availableMinor: null,
    });
    const limited = secured({ per_transaction_limit_minor: 4_999n });
    expect(verify(limited, asked)).toBe('per_transaction_limit_exceeded');
  });

  test('is declined by the security settings', () => {
    const off = secured({ channels: { ...OPEN_SECURITY.channels, online: false } });
    expect(verify(off, { channel: 'online' })).toBe('channel_not_allowed');
    const abroad = { merchant: { name: 'Shop', category: '5411', country: 'US' } };
    expect(verify(secured({ allowed_countries: ['NG'] }), abroad)).toBe('country_not_allowed');
    const blocked = secured({ blocked_merchant_categories: ['5812'] });
    expect(verify(blocked)).toBe('merchant_category_blocked');
  });
});

describe('a credit', () => {
  const credit = (card: Partial<Card>, changes: Partial<AuthorizationRequest> = {}) =>
    codeFor(card, { kind: 'credit', ...changes });

  test.each([
    ['pending', 'card_not_active'],
    ['failed', 'card_not_active'],
    ['closed', 'card_closed'],
    ['expired', 'card_expired'],
  ] as const)('to a card that is %s is declined: %s', (status, code) => {
    expect(credit({ status })).toBe(code);
  });

  test.each(['active', 'locked'] as const)('to a card that is %s is approved', (status) => {
    expect(credit({ status, available_minor: 0n })).toBe('approved of card');
  });

  test('is for no balance, limit or channel to decline, but for its currency and its amount', () => {
    const strict = secured({ per_transaction_limit_minor: 1n, daily_limit_minor: 1n });
    expect(credit({ ...strict, available_minor: 0n })).toBe('approved of card');
    expect(credit({}, { currency: 'USD' })).toBe('currency_not_supported');
    expect(credit({}, { amountMinor: -1n })).toBe('invalid_amount');
  });
});

test('a just-in-time card spends what is on it, otherwise what the wallet has', () => {
  const jit = { funding: 'jit', available_minor: 0n } as const;
  expect(codeFor(jit, {}, { wallet: 5_000n })).toBe('approved of wallet');
  expect(codeFor(jit, {}, { wallet: 4_999n })).toBe('insufficient_balance');
  expect(codeFor({ ...jit, available_minor: 5_000n }, {}, { wallet: 5_000n })).toBe(
    'approved of card',
  );
  // Never of both.
  expect(codeFor({ ...jit, available_minor: 4_999n }, {}, { wallet: 4_999n })).toBe(
    'insufficient_balance',
  );
});

test('the guide lists every code of a decline', () => {
  const guide = readFileSync(new URL('../../docs/guide/using-cards.md', import.meta.url), 'utf8');
  expect(DECLINES.filter((code) => !guide.includes(`\`${code}\``))).toEqual([]);
});
