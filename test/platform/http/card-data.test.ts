import { parseJsonObject } from '../../../src/platform/http/json.js';
import { ApiError } from '../../../src/shared/errors.js';
import { opaqueId } from '../../../src/shared/card-data.js';

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
    'cvv CVC2 cv2 cvv_code cvc_code security_code card_number pan',
    'pin Pin-Block pin_number track track2 track3',
  ].flatMap((line) => line.split(' ')),
)('a field %s is refused at any depth, whatever it holds', (name) => {
  expect(refusedField({ metadata: { list: [{ [name]: 'x' }] } })).toBe(`metadata.list.0.${name}`);
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
    const id = `a${digits}`.padEnd(length, 'b');
    for (const text of [id, id.toUpperCase(), `auth_${id}`, `orders ${id}, ${id}`]) {
      expect([text, refusedField({ text })]).toEqual([text, null]);
    }
    for (const text of [`${id}c`, `${id} ${digits}`, `card${digits}`]) {
      expect([text, refusedField({ text })]).toEqual([text, 'text']);
    }
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
