import { findMetadataProblem } from '../../src/shared/metadata.js';

const message = 'must not hold a card number';

test('metadata with a card number is refused: as a text, within a text, or as a number', () => {
  for (const card of ['4111111111111111', 'paid by 4111-1111-1111-1111', 4111111111111111]) {
    expect(findMetadataProblem({ a: [{ card }] })).toEqual({ path: ['a', '0', 'card'], message });
  }
});

test('metadata with a card number is refused with any separator and in the digits of any script', () => {
  const parted = ['.', '/', '_', '\u00a0', '\u2011', '\u2013'].map((by) =>
    ['4111', '1111', '1111', '1111'].join(by),
  );
  const wide = '4111111111111111'.replaceAll(/[0-9]/g, (digit) =>
    String.fromCodePoint(0xff10 + Number(digit)),
  );
  for (const card of [...parted, wide, '3782 822463 10005']) {
    expect([card, findMetadataProblem({ card })]).toEqual([card, { path: ['card'], message }]);
  }
  // Not grouped like cards: days, amounts, and telephone numbers.
  for (const text of [
    '2026-11-21/2026-12-21',
    '4111.11, 1111.11, 1111.10',
    '0803 123 4567 890 12',
  ]) {
    expect([text, findMetadataProblem({ text })]).toEqual([text, null]);
  }
});

test('the digits of a fraction are not a card number', () => {
  expect(findMetadataProblem({ share: 0.4111111111111111 })).toBeNull();
  expect(findMetadataProblem({ share: 4111111111111111.5 })).not.toBeNull();
});

test('the digits of a number in metadata are those of its integer part, also with an exponent', () => {
  // The digits after the point of 7.644657885385194e+289 pass the Luhn check; its integer part has 290 digits.
  expect(findMetadataProblem({ huge: 7.644657885385194e289 })).toBeNull();
  expect(findMetadataProblem({ huge: -7.644657885385194e289 })).toBeNull();
  expect(findMetadataProblem({ card: 4.111111111111111e15 })).toEqual({ path: ['card'], message });
  expect(findMetadataProblem({ card: 4.888943248930403e16 })).toEqual({ path: ['card'], message });
});

test('metadata with a card number as a field name is refused', () => {
  const metadata = { cards: { '4111 1111 1111 1111': true } };
  expect(findMetadataProblem(metadata)).toEqual({ path: ['cards'], message });
});

test('a hexadecimal id or digest is not a card number; separate digits in the same text still are', () => {
  const digits = '4242424242424242';
  for (const length of [24, 32, 40, 64]) {
    const id = `a${digits}`.padEnd(length, 'b');
    for (const text of [id, id.toUpperCase(), `auth_${id}`, `orders ${id}, ${id}`]) {
      expect([text, findMetadataProblem({ text })]).toEqual([text, null]);
    }
    for (const text of [`${id}c`, `${id} ${digits}`, `card${digits}`]) {
      expect([text, findMetadataProblem({ text })]).toEqual([text, { path: ['text'], message }]);
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
    expect(findMetadataProblem({ id })).toBeNull();
  }
});
