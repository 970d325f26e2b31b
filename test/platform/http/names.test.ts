import fc from 'fast-check';
import { customerParams } from '../../../src/capabilities/customers/index.js';
import { listDisputesQuery } from '../../../src/capabilities/disputes/schema.js';
import { createRefundBody, listRefundsQuery } from '../../../src/capabilities/refunds/schema.js';
import { namedBy, ownName, plainText } from '../../../src/platform/http/wire.js';

const name = ownName('A name.', 'x');
const path = namedBy('A name.', 'x');

describe('a caller’s own name', () => {
  test.each([
    'Invoice 42',
    'a',
    '№ 7/2026 – été',
    '請求書 42',
    'فاتورة 42',
    '🧾 42',
    '...',
    'a'.repeat(100),
    '🧾'.repeat(100),
  ])('%s is accepted unchanged, and found by itself', (text) => {
    expect(name.parse(text)).toBe(text.normalize('NFC'));
    expect(path.parse(name.parse(text).slice(0, 100))).toBe(name.parse(text).slice(0, 100));
  });

  test.each([
    ['', 'empty'],
    [' a', 'a space'],
    ['a ', 'a space'],
    ['.', '"."'],
    ['..', '"."'],
    ['a\u0000b', 'control'],
    ['a\nb', 'control'],
    ['a\u0085b', 'control'],
    ['a\u202eb', 'direction'],
    ['a\u2066b', 'direction'],
    ['a\u200bb', 'invisible'],
    ['a\u200db', 'invisible'],
    ['a\u00adb', 'invisible'],
    ['\ufeffa', 'invisible'],
    ['a\u2800b', 'invisible'],
    ['a\u{e0041}b', 'invisible'],
    ['a\u{e0100}b', 'invisible'],
    ['a'.repeat(101), 'at most 100'],
  ])('%j is refused, and the message says why', (text, why) => {
    const { error } = name.safeParse(text);
    expect(error?.issues[0]?.message).toContain(why);
  });

  test('two spellings of one text are one name, and an accepted name stays as it is', () => {
    expect(name.parse('e\u0301te\u0301')).toBe(name.parse('\u00e9t\u00e9'));
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 50 }), (text) => {
        const parsed = name.safeParse(text);
        if (!parsed.success) return;
        expect(name.parse(parsed.data)).toBe(parsed.data);
        const apart = text.normalize('NFD');
        if (apart.length <= 100) expect(path.parse(apart)).toBe(parsed.data);
      }),
    );
  });
});

test('a text refuses marks of direction, which would show another text than is stored', () => {
  const text = plainText(100);
  expect(text.safeParse('Rent for May').success).toBe(true);
  for (const mark of ['\u202e', '\u2067', '\u200f', '\u061c', '\u2028']) {
    expect(text.safeParse(`Rent ${mark}for May`).success).toBe(false);
  }
});

test('a text refuses characters that nobody sees, and accepts the joiners that scripts and emoji need', () => {
  const text = plainText(100);
  const all = '\u200b\ufeff\u00ad\u2060\u180e\u3164\u034f\u115f\u1160\u17b4\u17b5\u2800';
  for (const unseen of all) {
    const { error } = text.safeParse(`Rent${unseen} for May`);
    expect([unseen, error?.issues[0]?.message]).toEqual([
      unseen,
      'must not contain control, direction or invisible characters',
    ]);
  }
  for (const seen of [
    'می\u200cخواهم',
    'क्\u200dष',
    '👩\u200d👩\u200d👧',
    '❤\ufe0f',
    '한국어',
    'ភាសា',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  ]) {
    expect([seen, text.safeParse(seen).success]).toEqual([seen, true]);
  }
});

test('a record is found by its name also if a new one would be refused', () => {
  const existing = 'INV\u200b118';
  expect(name.safeParse(existing).success).toBe(false);
  for (const schema of [createRefundBody, listRefundsQuery, listDisputesQuery]) {
    expect(schema.parse({ charge_reference: existing }).charge_reference).toBe(existing);
  }
  expect(customerParams.customer_id.parse(existing)).toBe(existing);
});
