import { z } from 'zod';
import type { StatementRowInput } from '../operator-api/statements.js';
import { withoutUnseen } from '../../shared/text.js';
import { CommandError } from './command.js';

const column = z.string().min(1);

/** The mapping file of a provider: the columns of its statement, and how they are written. */
export const mappingSchema = z
  .strictObject({
    separator: z.enum([',', ';', '\t', '|']).default(','),
    encoding: z.enum(['utf8', 'latin1']).default('utf8'),
    /** Lines before the names of the columns. */
    skip_lines: z.int().min(0).max(100).default(0),
    order: z.enum(['oldest_first', 'newest_first']).default('oldest_first'),
    columns: z.strictObject({
      reference: column,
      date: column,
      time: column.optional(),
      /** Either one column with signs, or two. */
      amount: column.optional(),
      credit: column.optional(),
      debit: column.optional(),
      fee: column.optional(),
      balance: column.optional(),
      /** The column that marks rows between us and the provider alone. */
      type: column.optional(),
    }),
    /** Rows whose type is one of these are our own: top-ups, charges of the provider. */
    own_types: z.array(z.string()).default([]),
    /** The sign that a payment out of our balance has in `amount`. */
    debit_sign: z.enum(['minus', 'plus']).default('minus'),
    /** True if the amounts contain the fees. */
    amount_has_fee: z.boolean().default(false),
    /** `YYYY`, `MM`, `DD`, `HH`, `mm`, `ss`, and anything else as it stands; `iso` for ISO 8601. */
    date_format: z.string().default('iso'),
    /** Minutes that the times are ahead of UTC; 60 in Lagos. */
    utc_offset_minutes: z
      .int()
      .min(-14 * 60)
      .max(14 * 60)
      .default(60),
    decimal_point: z.enum(['.', ',']).default('.'),
    thousands: z.enum(['', ',', '.', ' ', "'"]).default(','),
    /** True if the amounts are in kobo. */
    minor_units: z.boolean().default(false),
  })
  .refine(
    ({ columns: { amount, credit, debit } }) =>
      (amount === undefined) === (credit !== undefined && debit !== undefined),
    'columns needs either amount, or credit and debit',
  )
  .refine(
    ({ decimal_point: point, thousands }) => point !== thousands,
    'decimal_point and thousands must differ',
  );

/** How a provider writes its statements. */
export type Mapping = z.output<typeof mappingSchema>;

/** True if the dates have a time. Without one, a movement may be a day from its row. */
export const hasTimes = ({ date_format: format, columns }: Mapping): boolean =>
  format === 'iso' || format.includes('HH') || columns.time !== undefined;

/** Creates the function that reads the fields of a row. It throws a `CommandError` that names the line of a field it can't read. */
export function createRowReader(mapping: Mapping, header: readonly string[]) {
  const { columns } = mapping;
  const indexes = new Map<string, number>();
  for (const [name, title] of Object.entries(columns)) {
    const index = header.findIndex((each) => each.trim().replace(/^\uFEFF/, '') === title);
    if (index === -1) throw new CommandError(`there is no column "${title}"`);
    indexes.set(name, index);
  }
  const toDate = dateReader(mapping);
  return (fields: readonly string[], line: number): StatementRowInput => {
    const of = (name: keyof Mapping['columns']) => fields[indexes.get(name) ?? -1]?.trim() ?? '';
    const read = <T>(name: string, text: string, parse: (text: string) => T | null): T => {
      const value = parse(text);
      if (value === null) throw new CommandError(`row ${line}: ${name} can't be read`);
      return value;
    };
    const amountIn = (name: keyof Mapping['columns']) =>
      read(name, of(name), (text) => toMinor(mapping, text));
    const fee = columns.fee === undefined ? null : absolute(amountIn('fee'));
    const written =
      columns.amount === undefined
        ? absolute(amountIn('credit')) - absolute(amountIn('debit'))
        : amountIn('amount') * (mapping.debit_sign === 'plus' ? -1 : 1);
    // Banks write invisible characters into exports. They belong to no reference, and the operator API refuses them.
    const reference = withoutUnseen(of('reference')).trim();
    return {
      line,
      reference: reference === '' ? null : [...reference].slice(0, 100).join(''),
      amount_minor: written + (mapping.amount_has_fee ? (fee ?? 0) : 0),
      fee_minor: fee,
      balance_minor: columns.balance === undefined ? null : amountIn('balance'),
      at: read('date', [of('date'), of('time')].join(' ').trim(), toDate),
      own: columns.type !== undefined && mapping.own_types.includes(of('type')),
    };
  };
}

const absolute = (amount: number) => Math.abs(amount);

/** An amount in kobo by its digits, so that nothing is rounded. An empty field is zero. */
function toMinor(mapping: Mapping, text: string): number | null {
  const { decimal_point: point, thousands, minor_units: isMinor } = mapping;
  const inBrackets = /^\((.*)\)$/.exec(text);
  const bare = (inBrackets?.[1] ?? text).replaceAll(/[\s₦]|NGN/g, '');
  const plain = thousands === '' ? bare : bare.replaceAll(thousands, '');
  if (plain === '' || plain === '-') return 0;
  const found = /^([+-]?)([0-9]{1,14})(?:[.,]([0-9]{1,2}))?([+-]?)$/.exec(plain);
  if (!found || (found[3] !== undefined && !plain.includes(point))) return null;
  const [, before = '', whole = '', fraction = '', after = ''] = found;
  if (isMinor && /[1-9]/.test(fraction)) return null;
  const digits = isMinor ? whole : `${whole}${fraction.padEnd(2, '0')}`;
  const amount = Number(digits);
  if (!Number.isSafeInteger(amount)) return null;
  const isNegative = inBrackets !== null || before === '-' || after === '-';
  return isNegative ? -amount : amount;
}

const PARTS: Readonly<Record<string, string>> = {
  YYYY: '(?<YYYY>[0-9]{4})',
  MM: '(?<MM>[0-9]{1,2})',
  DD: '(?<DD>[0-9]{1,2})',
  HH: '(?<HH>[0-9]{1,2})',
  mm: '(?<mm>[0-9]{2})',
  ss: '(?<ss>[0-9]{2})',
};

function dateReader(mapping: Mapping): (text: string) => string | null {
  const { date_format: format, utc_offset_minutes: offset } = mapping;
  const pattern = new RegExp(
    `^${format.replaceAll(/YYYY|MM|DD|HH|mm|ss|[^A-Za-z0-9]/g, (part) => PARTS[part] ?? `\\${part}`)}$`,
  );
  return (text) => {
    if (format === 'iso' && /(?:Z|[+-][0-9]{2}:?[0-9]{2})$/.test(text)) return validDate(text);
    const found = format === 'iso' ? ISO.exec(text) : pattern.exec(text);
    const { YYYY, MM, DD, HH = '0', mm = '0', ss = '0' } = found?.groups ?? {};
    if (YYYY === undefined || MM === undefined || DD === undefined) return null;
    const day = [YYYY, MM.padStart(2, '0'), DD.padStart(2, '0')].join('-');
    const time = [HH, mm, ss].map((part) => part.padStart(2, '0')).join(':');
    const at = new Date(`${day}T${time}Z`).getTime() - offset * 60_000;
    return Number.isNaN(at) ? null : new Date(at).toISOString();
  };
}

const ISO = new RegExp(
  `^${PARTS['YYYY']}-${PARTS['MM']}-${PARTS['DD']}(?:[T ]${PARTS['HH']}:${PARTS['mm']}(?::${PARTS['ss']}(?:\\.[0-9]+)?)?)?$`,
);

const validDate = (text: string): string | null => {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
};
