import { readFileSync } from 'node:fs';
import { parseJsonObject } from '../../../src/platform/http/json.js';
import { ApiError } from '../../../src/shared/errors.js';
import { isCardField, opaqueId } from '../../../src/shared/card-data.js';

/** The field for which a body is refused; null if it is accepted. */
function refusedField(body: unknown): string | null {
  try {
    parseJsonObject(Buffer.from(JSON.stringify(body)));
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.message).not.toMatch(/[0-9]{4}/);
    return error.field ?? 'none';
  }
}

test.each([
  ['Mastercard, 2-series', ['2221000000000009', '2223000048400011', '2720992593319364']],
  ['Mastercard, 5-series', ['5555555555554444', '5105105105105100']],
  ['Visa, of 13, 16 and 19 digits', ['4222222222222', '4111111111111111', '4000000000000000006']],
  ['American Express', ['378282246310005', '341111111111111']],
  ['Diners Club and JCB', ['30569309025904', '3530111333300000']],
  ['Discover and UnionPay', ['6011111111111117', '6200000000000005']],
  ['Verve', ['5061020000000000094', '6500020000000000009']],
])('a card number of %s is refused', (_range, numbers) => {
  for (const number of numbers) {
    expect([number, refusedField({ note: `paid with ${number}` })]).toEqual([number, 'note']);
    expect([number, refusedField({ [number]: 1 })]).toEqual([number, 'body']);
  }
});

test.each([
  ['of another check digit', '4111111111111112'],
  ['before the 2-series', '2220999999999991'],
  ['after the 2-series', '2721000000000004'],
  ['of a telephone', '2348031234567'],
  ['of an account', '0123456789'],
  ['of a session, with 30 digits', '000000261121093000411111111111'],
])('a number %s is no card number', (_what, number) => {
  expect(refusedField({ number })).toBeNull();
});

test.each(
  [
    'pan cardPan card_pan primary_account_number primaryAccountNumber payer_primary_account_number',
    'card_number cardnum card-no cc_number ccNum credit_card_number debitCardNumber',
    'cvv CVV2 cvv3 iCVV dcvv cvc CVC2 cvc3 cv2 csc cvn cvv_code cvcCode card_cvv card_cvc cardCvv2 card_cvv2 card_cvc2',
    'cvv_number CVVNumber payer_cvv cvvcode cardcvv security_code cardSecurityCode card_security_code_2',
    'card_verification_value card_verification_code cardVerificationNumber',
    'pin card_pin cardPIN pin_number Pin-Block PINBlock encrypted_pin_block',
    'track track1 track2 track3 track_1 track1_data track2Data track_3_data track_data raw_track2 card_track_data',
    'track2_equivalent_data track_2_equivalent_data trackEquivalentData magstripe mag_stripe magnetic_stripe_data',
  ].flatMap((line) => line.split(' ')),
)('a field %s is refused at any depth, whatever text, number, list or object it holds', (name) => {
  for (const value of ['x', '123', 7, ['x'], { value: 'x' }]) {
    expect(refusedField({ metadata: { list: [{ [name]: value }] } })).toBe(
      `metadata.list.0.${name}`,
    );
  }
});

test.each([
  ['a PIN', ['pin_code', 'pinCode', 'atm_pin', 'new_pin', 'pin2', 'cardpin_1'], ['4321', 123456]],
  [
    'a security code',
    ['cid', 'card_cid', 'cardCsc', 'card_cvn', 'cvd', 'cav2', 'card_cv2'],
    ['123', 1234],
  ],
] as const)('a field that may hold %s is refused if it holds one', (_what, names, values) => {
  for (const field of names) {
    for (const value of [...values, ` ${values[0]} `, [values[0]]]) {
      expect([field, refusedField({ [field]: value })]).toEqual([field, field]);
    }
    for (const value of ['Lagos', '12', null, true, 'a 4321']) {
      expect([field, value, refusedField({ [field]: value })]).toEqual([field, value, null]);
    }
  }
});

test('a name that only has the letters of such a field is accepted, and one that names the result of a check', () => {
  const names = [
    'shipping spinner pinned pinterest_id opinion mapping tracking_number trackId soundtrack',
    'track_title company japan_office expand customer_cid cid_number cv_url tcv_currency card_id card_count',
    'card_brand card_verification verification_code account_number incident_code',
  ].flatMap((line) => line.split(' '));
  for (const name of names) {
    expect([name, refusedField({ [name]: '4321' })]).toEqual([name, null]);
  }
  for (const name of ['cvv_check', 'cvcResult', 'cvc_response_code', 'security_code_status']) {
    expect([name, refusedField({ [name]: 'M' })]).toEqual([name, null]);
    expect([name, refusedField({ [name]: '123' })]).toEqual([name, name]);
  }
  expect(refusedField({ has_cvv: true, cvv_checked: false, payer_cvv: null })).toBeNull();
});

test('no field of the API has the name of a field for card data', () => {
  const text = readFileSync('openapi.json', 'utf8');
  const names = new Set([...text.matchAll(/"([A-Za-z0-9_]+)":/g)].map(([, name]) => String(name)));
  expect(names.size).toBeGreaterThan(100);
  const refused = [...names].filter((name) =>
    ['x', '123', '4321'].some((value) => isCardField(name, value)),
  );
  expect(refused).toEqual([]);
});

test('an opaque id of another system is accepted in any form, unless it is a card number', () => {
  const ids = [
    '65a9dad4-1b60-4686-83fd-65b25078a4b4',
    '30463799-3051-4fd6-bce5-2d9c77eccda2',
    '4099260516',
    '7c2f',
    'card_1',
  ];
  expect(ids.map(opaqueId)).toEqual(ids);
  const refused = ['4111111111111111', '4111-1111-1111-1111', '2223000048400011', 'a b', '', 'é'];
  expect(refused.map(opaqueId)).toEqual(refused.map(() => null));
});

test('a body with a card number is refused: as a text, within a text, or as a number', () => {
  for (const card of ['4111111111111111', 'paid by 4111-1111-1111-1111', 4111111111111111]) {
    expect(refusedField({ a: [{ card }] })).toEqual('a.0.card');
  }
});

test.each([
  ['Visa of 13 digits, 4-4-4-1', '4222 2222 2222 2'],
  ['16 digits, 4-4-4-4', '5555 5555 5555 4444'],
  ['19 digits, 4-4-4-4-3', '5061 0200 0000 0000 094'],
  ['American Express, 4-6-5', '3782 822463 10005'],
  ['Diners Club, 4-6-4', '3056 930902 5904'],
])('a card number is refused as it is printed: %s', (_grouping, printed) => {
  for (const card of [
    printed,
    `paid with ${printed.replaceAll(' ', '-')}.`,
    `${printed} 12/29 123`,
    `${printed} 123`,
    `2029 ${printed}`,
  ]) {
    expect([card, refusedField({ card })]).toEqual([card, 'card']);
  }
  const other = `${printed.slice(0, -1)}${(Number(printed.at(-1)) + 1) % 10}`;
  expect([other, refusedField({ other })]).toEqual([other, null]);
});

test('a body with a card number is refused with any separator and in the digits of any script', () => {
  const parted = ['.', '/', '_', '\u00a0', '\u2011', '\u2013'].map((by) =>
    ['4111', '1111', '1111', '1111'].join(by),
  );
  const wide = '4111111111111111'.replaceAll(/[0-9]/g, (digit) =>
    String.fromCodePoint(0xff10 + Number(digit)),
  );
  for (const card of [...parted, wide, '3782 822463 10005']) {
    expect([card, refusedField({ card })]).toEqual([card, 'card']);
  }
  // Not grouped like cards: days, amounts, and telephone numbers.
  for (const text of [
    '2026-11-21/2026-12-21',
    '4111.11, 1111.11, 1111.10',
    '0803 123 4567 890 12',
  ]) {
    expect([text, refusedField({ text })]).toEqual([text, null]);
  }
});

test.each([
  ['a joiner', '\u200d'],
  ['a non-joiner', '\u200c'],
  ['a soft hyphen', '\u00ad'],
  ['a variation selector', '\ufe0f'],
  ['a tag', '\u{e0020}'],
  ['a line below', '\u0332'],
])('a card number is refused with %s between its digits, which nobody sees', (_, unseen) => {
  for (const card of ['4111111111111111', '4111 1111 1111 1111'])
    expect(refusedField({ card: [...card].join(unseen) })).toBe('card');
});

test('the digits of a fraction are not a card number', () => {
  expect(refusedField({ share: 0.4111111111111111 })).toBeNull();
  expect(refusedField({ share: 4111111111111111.5 })).not.toBeNull();
});

test('the digits of a number are those of its integer part, also with an exponent', () => {
  // The digits after the point of 7.644657885385194e+289 pass the Luhn check; its integer part has 290 digits.
  expect(refusedField({ huge: 7.644657885385194e289 })).toBeNull();
  expect(refusedField({ huge: -7.644657885385194e289 })).toBeNull();
  expect(refusedField({ card: 4.111111111111111e15 })).toEqual('card');
  expect(refusedField({ card: 4.888943248930403e16 })).toEqual('card');
});

test('metadata with a card number as a field name is refused', () => {
  const metadata = { cards: { '4111 1111 1111 1111': true } };
  expect(refusedField(metadata)).toEqual('cards');
});

test('a hexadecimal id or digest is not a card number; separate digits in the same text still are', () => {
  const digits = '4242424242424242';
  for (const length of [24, 32, 40, 64]) {
    const id = `a${digits}`.padEnd(length, 'bcdefa0');
    for (const text of [id, id.toUpperCase(), `auth_${id}`, `orders ${id}, ${id}`]) {
      expect([text, refusedField({ text })]).toEqual([text, null]);
    }
    for (const text of [`${id}c`, `${id} ${digits}`, `card${digits}`]) {
      expect([text, refusedField({ text })]).toEqual([text, 'text']);
    }
  }
});

test('a card number within a hexadecimal word is refused, as far as the word cannot be a random id', () => {
  const track = '4111111111111111d29122011234567800000f93'.slice(0, 32);
  const words = [
    track,
    track.toUpperCase(),
    '4111111111111111'.padEnd(24, 'f'),
    '4111111111111111'.padEnd(32, 'f'),
    'deadbeef4111111111111111',
    'abcd4111111111111111abcd',
    'a5061020000000000094'.padEnd(40, 'b'),
    'ab378282246310005'.padEnd(64, 'c'),
  ];
  for (const text of [...words, ...words.map((word) => `order ${word}, paid`)]) {
    expect([text, refusedField({ text })]).toEqual([text, 'text']);
  }
  const others = ['4111111111111112', '9111111111111111', '4111111111111'];
  for (const text of others.map((digits) => digits.padEnd(32, 'f'))) {
    expect([text, refusedField({ text })]).toEqual([text, null]);
  }
});

test('of random hexadecimal ids, practically none is refused', () => {
  // A generator of its own, so that each run sees the same ids.
  let state = 1n;
  const next = () => (state = (state * 6_364_136_223_846_793_005n + 1n) % (1n << 64n)) >> 32n;
  const word = (length: number) =>
    Array.from({ length: length / 8 }, () => next().toString(16).padStart(8, '0')).join('');
  for (const length of [24, 32, 40, 64]) {
    const refused = Array.from({ length: 5_000 }, () => word(length)).filter((id) =>
      refusedField({ id }),
    );
    expect(refused).toEqual([]);
  }
});

test('a UUID is not a card number, whatever its digits', () => {
  // Each passes the Luhn check if its groups are read as one number.
  for (const id of [
    'af690057-4808-486b-b0a7-1b0e37c69874',
    '30463799-3051-4fd6-bce5-2d9c77eccda2',
    'a9006dc5-f606-40e5-8272-977847934f40',
  ]) {
    expect(refusedField({ id })).toBeNull();
  }
});
