import { readCsv } from '../../../src/ops/cli/csv.js';
import { createRowReader, mappingSchema } from '../../../src/ops/cli/statement-mapping.js';
import { eventually } from '../../support/eventually.js';

/** The records of a text that arrives in pieces of this length. */
async function records(text: string, length: number, separator = ','): Promise<string[][]> {
  async function* pieces() {
    for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
  }
  const found: string[][] = [];
  for await (const record of readCsv(pieces(), separator)) found.push(record);
  return found;
}

const CSV = 'a,"b ""x"", y",c\r\n\r\n"line\nbreak",,"last"';

test.each([1, 2, 3, 5, 100])(
  'a CSV file is read the same in pieces of %i characters',
  async (length) => {
    expect(await records(CSV, length)).toEqual([
      ['a', 'b "x", y', 'c'],
      ['line\nbreak', '', 'last'],
    ]);
  },
);

test('a quote within a field is a part of it, and ends of lines may be mixed', async () => {
  expect(await records('a 5" pipe,b\nc,d\r\n', 3)).toEqual([
    ['a 5" pipe', 'b'],
    ['c', 'd'],
  ]);
});

test('a failure of the file fails the reading, and a reader may stop early', async () => {
  async function* broken() {
    yield 'a,b\nc,d\n';
    throw new Error('the disk is gone');
  }
  const all = async () => {
    for await (const _ of readCsv(broken()));
  };
  await expect(all()).rejects.toThrow('the disk is gone');
  let isClosed = false;
  async function* endless() {
    try {
      for (;;) yield 'a,b\n';
    } finally {
      isClosed = true;
    }
  }
  for await (const record of readCsv(endless())) {
    expect(record).toEqual(['a', 'b']);
    break;
  }
  await eventually('the file is closed', () => isClosed || undefined);
});

test('a file that ends within quotes is refused', async () => {
  await expect(records('a,"b', 2)).rejects.toThrow('a quote is not closed');
});

const columns = { reference: 'Ref', date: 'Date', amount: 'Amount', balance: 'Balance' };
const read = (mapping: object, fields: Record<string, string>) => {
  const reader = createRowReader(mappingSchema.parse(mapping), Object.keys(fields));
  return reader(Object.values(fields), 1);
};

test.each([
  ['naira with a sign', { columns }, '-1,234.5', -123_450],
  ['a comma before kobo', { columns, decimal_point: ',', thousands: '.' }, '1.234,56', 123_456],
  ['kobo', { columns, minor_units: true }, '1234', 1_234],
  ['payouts without a sign', { columns, debit_sign: 'plus' }, '1234', -123_400],
  ['brackets and the currency', { columns }, '(₦1,234.00)', -123_400],
  ['a sign behind the amount', { columns }, '12.34-', -1_234],
])('amounts: %s', (_, mapping, written, amount) => {
  const fields = { Ref: 'trf_1', Date: '2026-11-20', Amount: written, Balance: '0' };
  expect(read(mapping, fields).amount_minor).toBe(amount);
});

test('two columns of amounts, the fee within them, times of Lagos and rows of our own', () => {
  const mapping = {
    columns: {
      reference: 'Ref',
      date: 'Date',
      time: 'Time',
      debit: 'Out',
      credit: 'In',
      fee: 'Fee',
      type: 'Kind',
    },
    date_format: 'DD/MM/YYYY HH:mm',
    amount_has_fee: true,
    own_types: ['Float'],
  };
  const fields = { Ref: ' trf_1 ', Date: '20/11/2026', Time: '00:30', Out: '100.00', In: '' };
  expect(read(mapping, { ...fields, Fee: '0.10', Kind: 'Payment' })).toEqual({
    line: 1,
    reference: 'trf_1',
    amount_minor: -9_990,
    fee_minor: 10,
    balance_minor: null,
    at: '2026-11-19T23:30:00.000Z',
    own: false,
  });
  expect(read(mapping, { ...fields, Fee: '0', Kind: 'Float' }).own).toBe(true);
});

test('what is not an amount or a date is refused with its row, never rounded', () => {
  const fields = { Ref: 'trf_1', Date: '2026-11-20', Amount: '1.00', Balance: '0' };
  for (const wrong of ['1.234', '1e3', 'NaN', '12,34.5.6', '0x10']) {
    expect(() => read({ columns }, { ...fields, Amount: wrong })).toThrow('row 1: amount');
  }
  expect(() => read({ columns }, { ...fields, Date: '20.11.2026' })).toThrow('row 1: date');
  expect(() => read({ columns: { ...columns, fee: 'Fee' } }, fields)).toThrow('no column "Fee"');
  expect(mappingSchema.safeParse({ columns: { reference: 'a', date: 'b' } }).success).toBe(false);
});

test('invisible characters do not belong to a reference, and a long one is not cut within a character', () => {
  const mapping = mappingSchema.parse({
    columns: { reference: 'Ref', date: 'Date', amount: 'Amount' },
  });
  const read = createRowReader(mapping, ['Ref', 'Date', 'Amount']);
  const referenceOf = (text: string) => read([text, '2026-11-21', '1.00'], 1).reference;
  expect(referenceOf('\u200bINV\u00ad-\ufeff118\u202e ')).toBe('INV-118');
  expect(referenceOf('\u200b')).toBeNull();
  expect(referenceOf('🧾'.repeat(101))).toBe('🧾'.repeat(100));
});
