import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import type { Db } from 'mongodb';
import { depositId } from '../src/capabilities/deposits/record.js';
import type { PostingDocument } from '../src/core/ledger/collections.js';
import { accounts } from '../src/core/ledger/posting.js';
import type { BreakKind } from '../src/core/reconciliation/break.js';
import { newId } from '../src/shared/ids.js';
import { DAY_MS } from '../src/shared/durations.js';

/** The provider of the statement, and its mapping. */
export const PROVIDER = 'sandbox-bank';
export const MAPPING = {
  columns: {
    reference: 'Reference',
    date: 'Value date',
    credit: 'Credit',
    debit: 'Debit',
    fee: 'Fee',
    balance: 'Balance',
    type: 'Type',
  },
  own_types: ['FUNDING'],
};

const HEADER = 'Value date,Reference,Type,Debit,Credit,Fee,Balance\n';
const DAYS = 30;
const OPENING = 5_000_000_000_000n;
const TOP_UP_EVERY = 5_000;
const REVERSED_EVERY = 50;
/** Payments between a payment and its reversal. */
const REVERSED_AFTER = 7;
const KINDS = ['transfer', 'charge', 'billPayment', 'deposit', 'refund'] as const;
const FAULTS: readonly BreakKind[] = [
  'missing_here',
  'missing_there',
  'other_amount',
  'other_state',
  'duplicate',
  'fee_differs',
  'gap',
];

/** A planted fault: its kind, and the record; for a gap the line. */
export type Planted = { kind: BreakKind; reference: string };

type Payment = {
  record: string;
  reference: string;
  tenantId: string;
  /** Positive: into our balance. */
  amountMinor: bigint;
  feeMinor: bigint;
  at: Date;
};
type Row = { reference: string; type: string; amountMinor: bigint; feeMinor: bigint; at: Date };

/** The statement of some thousand or a million payments, with faults at even distances. */
export type PlantedStatement = { payments: number; faults: number; tenants: readonly string[] };

/**
 * Writes the books of the payments into the database and the provider's statement of them into a file, in pieces. Returns the
 * planted faults. The balances of the statement chain, except at planted gaps.
 */
export async function plant(
  db: Db,
  file: string,
  { payments, faults, tenants }: PlantedStatement,
): Promise<Planted[]> {
  const fast = { writeConcern: { w: 1, journal: false } } as const;
  const postings = db.collection<PostingDocument>('postings', fast);
  const statement = createStatement(file);
  const planted: Planted[] = [];
  const distance = Math.floor(payments / (faults + 1));
  const first = Date.now() - (DAYS + 2) * DAY_MS;
  let books: PostingDocument[] = [];
  const reversals: Payment[] = [];
  for (let number = 0; number < payments; number += 1) {
    const at = new Date(first + Math.floor((number / payments) * DAYS * DAY_MS));
    const fault =
      number > 0 && number % distance === 0 ? FAULTS[planted.length % FAULTS.length] : undefined;
    const isPlanted = fault !== undefined && planted.length < faults;
    const payment = paymentOf(number, fault, tenants, at);
    const due = reversals[0];
    if (due && at.getTime() >= due.at.getTime()) {
      reversals.shift();
      const reversal = { ...due, amountMinor: -due.amountMinor, at };
      books.push(postingOf(reversal, 'reversal'));
      await statement.add(rowOf(reversal));
    }
    if (number % TOP_UP_EVERY === 0) {
      const topUp = { reference: `top-up ${number}`, type: 'FUNDING', feeMinor: 0n, at };
      await statement.add({ ...topUp, amountMinor: 1_000_000_000n });
    }
    if (isPlanted) planted.push(await fail(statement, books, payment, fault));
    else {
      books.push(postingOf(payment, 'resolve'));
      await statement.add(rowOf(payment));
      const isReversed = number % REVERSED_EVERY === 0 && payment.amountMinor < 0n;
      const step = Math.ceil((REVERSED_AFTER / payments) * DAYS * DAY_MS);
      if (isReversed) reversals.push({ ...payment, at: new Date(at.getTime() + step) });
    }
    if (books.length >= 5_000) {
      await postings.insertMany(books, { ordered: false });
      books = [];
    }
  }
  if (books.length > 0) await postings.insertMany(books, { ordered: false });
  await statement.end();
  return planted;
}

function paymentOf(
  number: number,
  fault: BreakKind | undefined,
  tenants: readonly string[],
  at: Date,
): Payment {
  // Fees are booked for money that comes in, and a payment that is open has a hold.
  const fixed = { fee_differs: 'charge', other_state: 'transfer' } as const;
  const kind =
    fault === 'fee_differs' || fault === 'other_state'
      ? fixed[fault]
      : (KINDS[number % KINDS.length] ?? 'transfer');
  const isIn = kind === 'charge' || kind === 'deposit';
  const amountMinor = 10_000n + BigInt((number * 7_919) % 900_000);
  const id = newId(kind === 'deposit' ? 'transfer' : kind);
  const theirs = `NIP${id.slice(4).toUpperCase()}`;
  return {
    record: kind === 'deposit' ? depositId(PROVIDER, theirs) : id,
    reference: kind === 'deposit' ? theirs : kind === 'charge' ? `${id.replace('_', '-')}-1` : id,
    tenantId: tenants[number % tenants.length] ?? '',
    amountMinor: isIn ? amountMinor : -amountMinor,
    feeMinor: isIn ? amountMinor / 100n : 0n,
    at,
  };
}

type Statement = ReturnType<typeof createStatement>;

async function fail(
  statement: Statement,
  books: PostingDocument[],
  payment: Payment,
  kind: BreakKind,
): Promise<Planted> {
  const { record } = payment;
  const row = rowOf(payment);
  if (kind === 'other_state') books.push(postingOf(payment, 'hold'));
  else if (kind !== 'missing_here') books.push(postingOf(payment, 'resolve'));
  if (kind === 'gap') return { kind, reference: String(await statement.add(row, 1n)) };
  if (kind === 'other_amount') await statement.add({ ...row, amountMinor: row.amountMinor + 1n });
  else if (kind === 'fee_differs') await statement.add({ ...row, feeMinor: row.feeMinor + 1n });
  else if (kind !== 'missing_there') await statement.add(row);
  if (kind === 'duplicate') await statement.add(row);
  return { kind, reference: record };
}

const rowOf = ({ reference, amountMinor, feeMinor, at }: Payment): Row => ({
  reference,
  type: 'PAYMENT',
  amountMinor,
  feeMinor,
  // The provider's clock, and the way to us.
  at: new Date(at.getTime() - 1_500),
});

/** The posting of a payment. A hold does not move the clearing account. */
function postingOf(payment: Payment, step: 'hold' | 'resolve' | 'reversal'): PostingDocument {
  const { record, tenantId, amountMinor, feeMinor, at } = payment;
  const legs =
    step === 'hold'
      ? [
          { account: accounts.available(tenantId), amount_minor: amountMinor },
          { account: accounts.held(tenantId), amount_minor: -amountMinor },
        ]
      : [
          { account: accounts.clearing(PROVIDER), amount_minor: -amountMinor },
          { account: accounts.available(tenantId), amount_minor: amountMinor - feeMinor },
          ...(feeMinor === 0n
            ? []
            : [{ account: accounts.providerFees(PROVIDER), amount_minor: feeMinor }]),
        ];
  return { _id: `${record}/${step}`, tenant_id: tenantId, at, legs };
}

/** The file of a statement. `add` returns the number of the row; `shift` breaks the chain of balances before it. */
function createStatement(file: string) {
  const out = createWriteStream(file);
  let balance = OPENING;
  let line = 0;
  out.write(HEADER);
  return {
    async add({ reference, type, amountMinor, feeMinor, at }: Row, shift = 0n): Promise<number> {
      balance += amountMinor - feeMinor + shift;
      const [debit, credit] = amountMinor < 0n ? [-amountMinor, 0n] : [0n, amountMinor];
      const cells = [debit, credit, feeMinor, balance].map(naira);
      line += 1;
      const text = [at.toISOString(), reference, type, ...cells].join(',');
      if (!out.write(`${text}\n`)) await once(out, 'drain');
      return line;
    },
    async end(): Promise<void> {
      out.end();
      await once(out, 'finish');
    },
  };
}

const naira = (minor: bigint) => `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`;
