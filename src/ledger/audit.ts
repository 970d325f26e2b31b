import type { ClientSession, Db, Document } from 'mongodb';
import type { Database } from '../database/client.js';
import { countRecords, countsOf, type CountChange } from '../transfers/counts.js';
import { capturePosting, holdPosting, releasePosting } from '../transfers/postings.js';
import type { Transfer } from '../transfers/transfer.js';
import { ledgerCollections } from './store.js';

export type AuditReport = {
  postings: number;
  transfers: number;
  /** Balance of each account, the sum of its legs. All of them together are zero. */
  balances: Map<string, bigint>;
  /** What is wrong, in plain words; empty when the books are right. */
  problems: string[];
};

/**
 * Reads the whole ledger as it stood at one moment and holds it against the records: every posting balances, wallets
 * are what their postings say, what is held is what open transfers hold, every transfer has the postings of its state
 * and no others, and what is counted is what there is.
 */
export async function auditLedger({ client, db }: Database): Promise<AuditReport> {
  const session = client.startSession({ snapshot: true });
  try {
    const collections = ledgerCollections(db);
    const { balances, postings, unbalanced } = await readBooks(collections, session);
    const problems = [...unbalanced];
    const total = [...balances.values()].reduce((sum, balance) => sum + balance, 0n);
    if (total !== 0n) problems.push(`all accounts together hold ${total} instead of 0`);
    problems.push(...(await checkWallets(collections, balances, session)));
    problems.push(...(await checkCounts(db, session)));
    const checked = await checkTransfers(collections, balances, session);
    return {
      postings,
      transfers: checked.count,
      balances,
      problems: [...problems, ...checked.problems],
    };
  } finally {
    await session.endSession();
  }
}

type Collections = ReturnType<typeof ledgerCollections>;

async function readBooks({ postings }: Collections, session: ClientSession) {
  const unwound: Document[] = [{ $unwind: '$legs' }];
  const balances = new Map<string, bigint>();
  const sums = postings.aggregate<{ _id: string; sum: bigint }>(
    [...unwound, { $group: { _id: '$legs.account', sum: { $sum: '$legs.amount_minor' } } }],
    { session },
  );
  for await (const { _id, sum } of sums) balances.set(_id, sum);
  const unbalanced: string[] = [];
  const off = postings.aggregate<{ _id: string }>(
    [{ $match: { $expr: { $ne: [{ $sum: '$legs.amount_minor' }, 0] } } }, { $project: { _id: 1 } }],
    { session },
  );
  for await (const { _id } of off) unbalanced.push(`posting ${_id} does not balance`);
  const count = await postings.countDocuments({}, { session });
  return { balances, postings: count, unbalanced };
}

async function checkWallets(
  { wallets }: Collections,
  balances: Map<string, bigint>,
  session: ClientSession,
): Promise<string[]> {
  const problems: string[] = [];
  const known = new Set<string>();
  const compare = (what: string, stored: bigint, booked: bigint) => {
    if (stored !== booked)
      problems.push(`${what}: the wallet says ${stored}, its postings ${booked}`);
  };
  for await (const wallet of wallets.find({}, { session })) {
    const account = `wallet:${wallet._id}:available`;
    known.add(account);
    compare(account, wallet.available_minor, balances.get(account) ?? 0n);
    const owed = `receivable:${wallet._id}`;
    compare(owed, wallet.owed_minor, -(balances.get(owed) ?? 0n));
  }
  for (const [account, balance] of balances) {
    if (account.startsWith('wallet:') && balance < 0n) problems.push(`${account} is at ${balance}`);
    if (account.endsWith(':available') && !known.has(account))
      problems.push(`${account} has no wallet`);
  }
  return problems;
}

/** What lists tell as their totals, held against what there is to list. */
async function checkCounts(db: Db, session: ClientSession): Promise<string[]> {
  const records = new Map((await countRecords(db, session)).map((sum) => [dayOf(sum), tell(sum)]));
  const counted = new Map<string, string>();
  for await (const { _id, created, failed, days } of countsOf(db).find({}, { session })) {
    let [daysCreated, daysFailed] = [0n, 0n];
    for (const [day, sum] of Object.entries(days)) {
      counted.set(`${_id}-${day}`, tell(sum));
      daysCreated += sum.created;
      daysFailed += sum.failed;
    }
    counted.set(_id, tell({ created, failed }));
    records.set(_id, tell({ created: daysCreated, failed: daysFailed }));
  }
  return [...new Set([...records.keys(), ...counted.keys()])]
    .filter((key) => records.get(key) !== counted.get(key))
    .map((key) => `${key} counts ${counted.get(key)}, the records are ${records.get(key)}`);
}

const dayOf = ({ tenant, day }: CountChange) => `${tenant}/${day}`;
const tell = ({ created, failed }: { created: number | bigint; failed: number | bigint }) =>
  `${created} created and ${failed} failed`;

/** The steps that a transfer's postings must have, by its state: those named, and those that may be there. */
const STEPS: Record<string, { must: string[]; may: string[] }> = {
  pending: { must: ['hold'], may: [] },
  processing: { must: ['hold'], may: [] },
  completed: { must: ['hold', 'resolve'], may: ['suspense', 'adoption'] },
  failed: {
    must: ['hold', 'resolve'],
    may: ['reversal', 'suspense', 'suspense-reversal', 'adoption'],
  },
};

type Audited = Transfer & {
  postings: { _id: string; legs: { account: string; amount_minor: bigint }[] }[];
};

/** Whether hold and resolution moved what the record says, and the right way. */
function checkLegs(transfer: Audited, steps: string[]): string[] {
  const adopted = steps.includes('adoption');
  const captured = !adopted && (transfer.status === 'completed' || steps.includes('reversal'));
  const at = transfer.created_at;
  const expected = new Map([
    ['hold', holdPosting(transfer)],
    ['resolve', captured ? capturePosting(transfer, at) : releasePosting(transfer, at)],
  ]);
  return transfer.postings.flatMap(({ _id, legs }) => {
    const step = _id.slice(transfer._id.length + 1);
    const wanted = expected.get(step);
    if (!wanted) return [];
    const same =
      legs.length === wanted.legs.length &&
      wanted.legs.every((leg) =>
        legs.some((has) => has.account === leg.account && has.amount_minor === leg.amountMinor),
      );
    return same ? [] : [`${_id} is not the posting of a ${transfer.status} transfer`];
  });
}

async function checkTransfers(
  { records: { transfers }, postings }: Collections,
  balances: Map<string, bigint>,
  session: ClientSession,
): Promise<{ count: number; problems: string[] }> {
  const problems: string[] = [];
  const held = new Map<string, bigint>();
  let count = 0;
  const joined = transfers.aggregate(
    [
      { $project: { timeline: 0 } },
      {
        $lookup: {
          from: postings.collectionName,
          let: { id: '$_id' },
          pipeline: [
            {
              $match: {
                $expr: {
                  $and: [
                    { $gte: ['$_id', { $concat: ['$$id', '/'] }] },
                    { $lt: ['$_id', { $concat: ['$$id', '0'] }] },
                  ],
                },
              },
            },
          ],
          as: 'postings',
        },
      },
    ],
    { session },
  );
  for await (const transfer of joined) {
    count += 1;
    const id = String(transfer._id);
    const steps = transfer.postings.map((p: { _id: string }) => p._id.slice(id.length + 1));
    const { must, may } = STEPS[transfer.status] ?? { must: [], may: [] };
    for (const step of must) {
      if (!steps.includes(step)) problems.push(`${id} is ${transfer.status} without its ${step}`);
    }
    problems.push(...checkLegs(transfer as Audited, steps));
    for (const step of steps) {
      if (!must.includes(step) && !may.includes(step))
        problems.push(`${id} is ${transfer.status} with a ${step}`);
    }
    if (transfer.status === 'pending' || transfer.status === 'processing') {
      const account = `wallet:${transfer.tenant}:held`;
      held.set(account, (held.get(account) ?? 0n) + BigInt(transfer.total_minor));
    }
  }
  for (const account of new Set([
    ...held.keys(),
    ...[...balances.keys()].filter((a) => a.endsWith(':held')),
  ])) {
    const [open, booked] = [held.get(account) ?? 0n, balances.get(account) ?? 0n];
    if (open !== booked) problems.push(`${account} is at ${booked}, open transfers hold ${open}`);
  }
  return { count, problems };
}
