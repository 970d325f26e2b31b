import type { ClientSession, Db } from 'mongodb';
import type { RecordCollection, StoredRecord } from '../commit/collection.js';
import type { ledgerCollections } from '../commit/store.js';
import type { InstructionStatus } from '../instructions/instruction.js';
import type { Posting } from './posting.js';

/** Problems that a report has at most; further ones are only counted. */
const MAX_PROBLEMS = 1_000;

/** Problems in plain words, at most `MAX_PROBLEMS`, and the number of all that were found. */
export type Findings = { problems: string[]; problemsFound: number };

/** Adds problems to a report; `found` is their number, if these are only the first ones. */
export function report(
  findings: Findings,
  problems: readonly string[],
  found = problems.length,
): void {
  const left = Math.max(0, MAX_PROBLEMS - findings.problems.length);
  findings.problems.push(...problems.slice(0, left));
  findings.problemsFound += found;
}

/** The database at one moment. */
type Moment = {
  db: Db;
  collections: ReturnType<typeof ledgerCollections>;
  session: ClientSession;
};

/** The books of one tenant at one moment. */
export type TenantBooks = Moment & {
  tenantId: string;
  /** Balance of each account: its last closing and the later legs. Of a shared account, the tenant's part; of all cards, the sum. */
  balances: ReadonlyMap<string, bigint>;
};

/** The result of a capability's audit of a tenant. */
export type TenantAudit = {
  problems: string[];
  /** The amounts that its open records hold, by account. Those on cards are left out. */
  held: Map<string, bigint>;
};

/** A record with its postings. */
export type RecordWithPostings = {
  _id: string;
  status: string;
  postings: { _id: string; legs: { account: string; amount_minor: bigint }[] }[];
};

/** Some records of one collection with their postings, at one moment. */
export type RecordPage<R> = Moment & { records: (R & Pick<RecordWithPostings, 'postings'>)[] };

/** The audit of the records of one collection, page by page. */
export type PageAudit = {
  collection: RecordCollection;
  /** Returns the problems of a page. */
  check: (page: RecordPage<StoredRecord>) => Promise<string[]>;
};

/**
 * Audits a portion of a tenant's records at one moment, of which few documents reach this process. `after` is `next` of the portion
 * before, empty at first; `next` is null at the end.
 */
export type PortionAudit = (
  of: Pick<Moment, 'db' | 'session'> & { tenantId: string },
  after: string,
) => Promise<{ next: string | null; problems: string[] }>;

/** A capability's part of the audit; see audit.ts. */
export type RecordAudit = {
  /** Compares records with their postings. */
  pages: readonly PageAudit[];
  /** Compares the sums of a tenant's records with its balances. */
  tenant?: (books: TenantBooks) => Promise<TenantAudit>;
  /** Compares stored sums with a tenant's records, which may be many. An audit in progress keeps the names; no other audit has them. */
  portions?: Readonly<Record<string, PortionAudit>>;
};

/** Declares the audit of a collection's records. */
export const auditPages = <R extends StoredRecord>(
  collection: RecordCollection<R>,
  check: (page: RecordPage<R>) => string[] | Promise<string[]>,
): PageAudit => ({
  collection,
  // The pages are read from this collection.
  check: async (page) => check(page as unknown as RecordPage<R>),
});

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
