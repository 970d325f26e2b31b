import type { AggregationCursor, ClientSession, Collection, Db, Document } from 'mongodb';
import type { InstructionStatus } from '../instructions/instruction.js';
import type { Posting } from './posting.js';
import type { ledgerCollections } from '../commit/store.js';

/** The ledger at one moment. */
export type LedgerSnapshot = {
  db: Db;
  collections: ReturnType<typeof ledgerCollections>;
  session: ClientSession;
  /** Balance of each account, the sum of its legs. */
  balances: ReadonlyMap<string, bigint>;
};

/** The result of a capability's audit. */
export type AuditResult = {
  /** The number of audited records of each kind. */
  counts: Record<string, number>;
  problems: string[];
  /** The amounts that its open records hold, by account. */
  held: Map<string, bigint>;
};

/** A capability's part of the audit; see audit.ts. */
export type RecordAudit = (books: LedgerSnapshot) => Promise<AuditResult>;

/** A record with its postings. */
export type RecordWithPostings = {
  _id: string;
  status: string;
  postings: { _id: string; legs: { account: string; amount_minor: bigint }[] }[];
};

/** Records with the postings that are named after them. */
export function withPostings<R extends object>(
  records: Collection<R>,
  { collections: { postings }, session }: LedgerSnapshot,
  match: Document = {},
): AggregationCursor<R & RecordWithPostings> {
  const own = {
    $and: [
      { $gte: ['$_id', { $concat: ['$$id', '/'] }] },
      { $lt: ['$_id', { $concat: ['$$id', '0'] }] },
    ],
  };
  const pipeline = [
    { $match: match },
    { $project: { timeline: 0 } },
    {
      $lookup: {
        from: postings.collectionName,
        let: { id: '$_id' },
        pipeline: [{ $match: { $expr: own } }],
        as: 'postings',
      },
    },
  ];
  return records.aggregate<R & RecordWithPostings>(pipeline, { session });
}

/** The steps of a record's postings: the part of a posting's id after the record's id. */
export const stepsOf = ({
  _id,
  postings,
}: Pick<RecordWithPostings, '_id' | 'postings'>): string[] =>
  postings.map((posting) => posting._id.slice(_id.length + 1));

/** The steps that a record's postings must have in a state, and those that may be there. */
export type Steps = { must: readonly string[]; may: readonly string[] };

/** Reports postings that a record lacks, and those that it must not have. */
export function checkSteps(record: RecordWithPostings, { must, may }: Steps): string[] {
  const { _id: id, status } = record;
  const steps = stepsOf(record);
  return [
    ...must
      .filter((step) => !steps.includes(step))
      .map((step) => `${id} is ${status} without its ${step}`),
    ...steps
      .filter((step) => !must.includes(step) && !may.includes(step))
      .map((step) => `${id} is ${status} with a ${step}`),
  ];
}

/** The steps of a payment out of the wallet: held until its end is proven, then captured or released. */
export const STEPS_OF_HELD: Readonly<Record<InstructionStatus, Steps>> = {
  pending: { must: ['hold'], may: [] },
  processing: { must: ['hold'], may: [] },
  completed: { must: ['hold', 'resolve'], may: ['suspense', 'suspense-debit'] },
  failed: {
    must: ['hold', 'resolve'],
    may: ['reversal', 'suspense', 'suspense-reversal', 'suspense-debit'],
  },
};

/** True if the hold was captured first, whatever followed. */
export function wasCaptured(record: RecordWithPostings): boolean {
  const steps = stepsOf(record);
  return (
    !steps.includes('suspense-debit') &&
    (record.status === 'completed' || steps.includes('reversal'))
  );
}

/** Compares the legs of the postings with the expected ones, by step. Returns the differences. */
export function checkLegs(
  { _id: id, status, postings }: RecordWithPostings,
  expected: Readonly<Record<string, Posting>>,
  record: string,
): string[] {
  return postings.flatMap(({ _id, legs }) => {
    const wanted = expected[_id.slice(id.length + 1)];
    if (!wanted) return [];
    const same =
      legs.length === wanted.legs.length &&
      wanted.legs.every((leg) =>
        legs.some((has) => has.account === leg.account && has.amount_minor === leg.amountMinor),
      );
    return same ? [] : [`${_id} is not the posting of a ${status} ${record}`];
  });
}

/** Adds an amount to the sum of an account. */
export function addTo(sums: Map<string, bigint>, account: string, amountMinor: bigint): void {
  sums.set(account, (sums.get(account) ?? 0n) + amountMinor);
}
