import { commitNamed } from '../../support/mutations.js';
import { audits } from '../../../src/composition/capabilities.js';
import fc from 'fast-check';
import { connectDatabase, type Database } from '../../../src/platform/database/client.js';
import { auditLedger } from '../../../src/core/ledger/audit.js';
import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import { createTransfers } from '../../../src/capabilities/transfers/store.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  acceptTransferMutation,
  byProvider,
  claimOf,
  createBulkTransferMutation,
  pendingTransfer,
} from '../../support/transfers.js';
import { newId } from '../../../src/shared/ids.js';

let database: TestDatabase;
let other: Database;

beforeAll(async () => {
  database = await openTestDatabase();
  // A second process: another client, another group commit, the same documents.
  other = await connectDatabase({ uri: database.uri, database: database.name }, 'other');
});
afterAll(async () => {
  await other.client.close();
  await database.close();
});

const now = () => new Date();
const tenantWith = async (availableMinor: bigint): Promise<string> => {
  const tenantId = newId('tenant');
  await creditWallet(createGroupCommit(database), {
    tenantId,
    amountMinor: availableMinor,
    reference: 'start',
  });
  return tenantId;
};
const fresh = (tenantId: string, changes: Partial<Transfer> = {}) =>
  pendingTransfer({ tenant_id: tenantId, created_at: now(), ...changes });
const available = async (tenantId: string) =>
  (
    await database.db
      .collection<{ _id: string; available_minor: bigint }>('wallets')
      .findOne({ _id: tenantId })
  )?.available_minor;
const stored = (tenantId: string) =>
  database.db.collection('transfers').countDocuments({ tenant_id: tenantId });

describe('group commit', () => {
  test('exactly as many transfers are accepted as the wallet can pay, and the others are refused', async () => {
    const tenantId = await tenantWith(251_000n * 20n + 250_999n);
    const commit = createGroupCommit(database);
    const outcomes = await Promise.all(
      Array.from({ length: 90 }, () =>
        commitNamed(commit, acceptTransferMutation(fresh(tenantId))),
      ),
    );
    const accepted = outcomes.filter((o) => o.kind === 'answered' && o.resource !== null);
    const refused = outcomes.filter(
      (o) => o.kind === 'answered' && o.answer.body.includes('insufficient_balance'),
    );
    expect([accepted.length, refused.length]).toEqual([20, 70]);
    expect(await available(tenantId)).toBe(250_999n);
    expect(await stored(tenantId)).toBe(20);
  });

  test('two processes on one wallet answer correctly, and one key creates one transfer', async () => {
    const tenantId = await tenantWith(251_000n * 30n);
    const [a, b] = [createGroupCommit(database), createGroupCommit(other)];
    const outcomes = await Promise.all(
      Array.from({ length: 120 }, (_, i) => {
        const claim = claimOf(`${tenantId}/secret/k${i % 40}`, 'f', now());
        return commitNamed(i % 2 === 0 ? a : b, acceptTransferMutation(fresh(tenantId), { claim }));
      }),
    );
    const byKey = new Map<number, Set<string>>();
    outcomes.forEach((outcome, i) => {
      if (outcome.kind !== 'answered') throw new Error('every request is answered');
      byKey.set(i % 40, (byKey.get(i % 40) ?? new Set()).add(outcome.answer.body));
    });
    expect([...byKey.values()].every((answers) => answers.size === 1)).toBe(true);
    expect(await stored(tenantId)).toBe(30);
    expect(await available(tenantId)).toBe(0n);
  });

  test('a mutation that the database refuses does not fail the others in its commit', async () => {
    const tenantId = await tenantWith(251_000n * 50n);
    const commit = createGroupCommit(database);
    const bad = { ...fresh(tenantId), submissions: 'none' as unknown as number };
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 20 }, () =>
        commitNamed(commit, acceptTransferMutation(fresh(tenantId))),
      ),
      commitNamed(commit, acceptTransferMutation(bad)),
      ...Array.from({ length: 20 }, () =>
        commitNamed(commit, acceptTransferMutation(fresh(tenantId))),
      ),
    ]);
    expect(outcomes.filter((o) => o.status === 'rejected')).toHaveLength(1);
    expect(outcomes[20]?.status).toBe('rejected');
    expect(await stored(tenantId)).toBe(40);
    expect(await available(tenantId)).toBe(251_000n * 10n);
  });

  test('a mutation repeated after an unknown commit result creates one transfer with one answer', async () => {
    const tenantId = await tenantWith(10_000_000n);
    const mutation = acceptTransferMutation(fresh(tenantId), {
      claim: claimOf(`${tenantId}/secret/k`, 'f', now()),
    });
    const first = await commitNamed(createGroupCommit(database), mutation);
    const again = await commitNamed(createGroupCommit(other), mutation);
    expect(again).toEqual(first);
    expect(await stored(tenantId)).toBe(1);
    expect(await available(tenantId)).toBe(10_000_000n - 251_000n);
  });

  test('keys and references in use are detected without a read before the write, also with an empty wallet', async () => {
    const tenantId = await tenantWith(251_000n * 2n);
    const keyed = (key: string, fingerprint: string) => ({
      claim: claimOf(`${tenantId}/secret/${key}`, fingerprint, now()),
    });
    const earlier = createGroupCommit(database);
    const first = await commitNamed(
      earlier,
      acceptTransferMutation(fresh(tenantId, { reference: 'r' }), keyed('k', 'f')),
    );
    const yesterday = new Date(now().getTime() - 25 * 60 * 60 * 1000);
    await commitNamed(
      earlier,
      acceptTransferMutation(fresh(tenantId, { reference: 'r' }), keyed('old', 'f')),
    );
    const keys = database.db.collection<{ _id: string }>('idempotency_keys');
    await keys.updateOne({ _id: `${tenantId}/secret/old` }, { $set: { expires_at: yesterday } });
    const repeatAll = async () => {
      const later = createGroupCommit(other);
      return {
        replayed: await commitNamed(
          later,
          acceptTransferMutation(fresh(tenantId), keyed('k', 'f')),
        ),
        reused: await commitNamed(later, acceptTransferMutation(fresh(tenantId), keyed('k', 'g'))),
        duplicate: await commitNamed(
          later,
          acceptTransferMutation(fresh(tenantId, { reference: 'r' })),
        ),
      };
    };
    const expected = {
      replayed: { ...first, replayed: true },
      reused: { kind: 'key_reused' },
      duplicate: { resource: null, answer: { body: expect.stringContaining('duplicate_ref') } },
    };
    expect(await repeatAll()).toMatchObject(expected);
    const renewed = await commitNamed(
      earlier,
      acceptTransferMutation(fresh(tenantId), keyed('old', 'g')),
    );
    expect(renewed).toMatchObject({ resource: expect.any(String), replayed: false });
    expect(await available(tenantId)).toBe(0n);
    expect(await repeatAll()).toMatchObject(expected);
    expect(await stored(tenantId)).toBe(2);
  });

  test('a bulk transfer that expects no refusal has a reference or key in use found by its index', async () => {
    const tenantId = await tenantWith(251_000n * 3n);
    const first = fresh(tenantId, { reference: 'r' });
    await commitNamed(createGroupCommit(database), acceptTransferMutation(first));
    const claim = claimOf(`${tenantId}/secret/k`, 'f', now());
    const accept = async (changes = {}) => {
      const transfers = [{ reference: 'a' }, { reference: 'r' }, { reference: 'b' }];
      const mutation = createBulkTransferMutation(
        tenantId,
        newId('bulkTransfer'),
        transfers.map((each) => fresh(tenantId, each)),
        { claim, ...changes },
      );
      const result = await commitNamed(createGroupCommit(other), mutation);
      return { mutation, result };
    };
    const { mutation, result } = await accept();
    expect(result).toMatchObject({ resource: mutation.bulkTransfer._id, replayed: false });
    expect(JSON.parse('answer' in result ? result.answer.body : '{}').items).toMatchObject([
      { reference: 'a', id: mutation.transfers[0]?._id, error: null },
      {
        reference: 'r',
        id: null,
        error: { code: 'duplicate_reference', details: { id: first._id } },
      },
      { reference: 'b', id: mutation.transfers[2]?._id, error: null },
    ]);
    expect((await accept()).result).toEqual({ ...result, replayed: true });
    const others = { claim: claimOf(`${tenantId}/secret/k`, 'g', now()) };
    expect((await accept(others)).result).toEqual({ kind: 'key_reused' });
    expect(await available(tenantId)).toBe(0n);
    expect(await stored(tenantId)).toBe(3);
  });

  test('a reference in use and a transfer’s change in one commit each get their own answer', async () => {
    const tenantId = await tenantWith(251_000n * 4n);
    const commit = createGroupCommit(database);
    const first = fresh(tenantId, { reference: 'r' });
    await commitNamed(commit, acceptTransferMutation(first));
    // Mutations that arrive while the first one commits queue behind it and share the next commit.
    const [, refused, duplicate, other] = await Promise.all([
      commitNamed(commit, acceptTransferMutation(fresh(tenantId))),
      commitNamed(commit, {
        kind: 'applyTransferFact',
        tenantId,
        id: first._id,
        fact: { ...byProvider, kind: 'rejected', code: 'account_closed' },
      }),
      commitNamed(commit, acceptTransferMutation(fresh(tenantId, { reference: 'r' }))),
      commitNamed(commit, acceptTransferMutation(fresh(tenantId))),
    ]);
    expect(refused).toMatchObject({ kind: 'fact', verdict: 'applied' });
    expect(duplicate).toMatchObject({ resource: null, answer: { status: 422 } });
    expect(other).toMatchObject({ resource: expect.any(String) });
    expect(await available(tenantId)).toBe(251_000n * 2n);
  });

  test('a credit counts once per reference, and another amount under it is refused', async () => {
    const tenantId = await tenantWith(1_000n);
    const commit = createGroupCommit(database);
    const credit = { tenantId, amountMinor: 500n, reference: 'salary' };
    await Promise.all(Array.from({ length: 10 }, () => creditWallet(commit, credit)));
    expect(await available(tenantId)).toBe(1_500n);
    await expect(creditWallet(commit, { ...credit, amountMinor: 501n })).rejects.toMatchObject({
      code: 'duplicate_reference',
    });
  });

  test('a full queue refuses at once, and a refused mutation has no effect', async () => {
    const tenantId = await tenantWith(251_000n * 6_000n);
    const commit = createGroupCommit(database);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5_000 }, () =>
        commitNamed(commit, acceptTransferMutation(fresh(tenantId))),
      ),
    );
    const refused = outcomes.filter((o) => o.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(
      refused.every((o) => o.status === 'rejected' && (o.reason as Error).name === 'OverloadError'),
    ).toBe(true);
    expect(await stored(tenantId)).toBe(5_000 - refused.length);
  });

  test('any sequence of acceptances, facts and credits over two processes leaves a balanced ledger', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(), fc.nat(3)), { minLength: 40, maxLength: 150, size: 'max' }),
        async (plan) => {
          const tenantId = await tenantWith(2_000_000n);
          const commits = [createGroupCommit(database), createGroupCommit(other)] as const;
          const stores = [
            createTransfers(database, commits[0], 1_000),
            createTransfers(other, commits[1], 1_000),
          ] as const;
          const ids = Array.from({ length: 12 }, () => newId('transfer'));
          await Promise.all(
            plan.map(async ([n, kind], i) => {
              const which = i % 2 === 0 ? 0 : 1;
              const id = ids[n % ids.length] as string;
              const about = { amountMinor: 250_000n, sessionId: null };
              if (kind === 0) {
                const mutation = acceptTransferMutation(
                  fresh(tenantId, { _id: id, reference: id }),
                );
                // Two with one id at once: the later one finds the earlier, like a retry after a lost answer.
                await commitNamed(commits[which], mutation);
              } else if (kind === 1)
                await stores[which].applyFact(tenantId, id, {
                  ...byProvider,
                  kind: 'succeeded',
                  ...about,
                });
              else if (kind === 2)
                await stores[which].applyFact(tenantId, id, {
                  ...byProvider,
                  kind: 'rejected',
                  code: 'x',
                });
              else
                await stores[which].applyFact(tenantId, id, {
                  ...byProvider,
                  kind: 'reversed',
                  ...about,
                });
            }),
          );
          // The ledger of this run is its tenant's.
          const { problems } = await auditLedger(database, audits, { scope: { tenantId } });
          expect(problems).toEqual([]);
        },
      ),
      { numRuns: 12 },
    );
    const { problems, sumMinor } = await auditLedger(database, audits);
    expect([problems, sumMinor]).toEqual([[], 0n]);
  });

  test('the permits of transfers that are submitted together share one commit, and so do their captures', async () => {
    const tenantId = await tenantWith(251_000n * 8n);
    const commit = createGroupCommit(database);
    const transfers = Array.from({ length: 8 }, () => fresh(tenantId));
    await Promise.all(
      transfers.map((transfer) => commitNamed(commit, acceptTransferMutation(transfer))),
    );
    const batches: number[] = [];
    commit.onBatch(({ mutations }) => void batches.push(mutations));
    const request = { submissions: 0, actor: 'bursar', dueAt: now() };
    const fact = { ...byProvider, kind: 'succeeded', amountMinor: null, sessionId: 's' } as const;
    await Promise.all(
      transfers.map(({ _id: id }) =>
        commitNamed(commit, { kind: 'grantTransferPermit', tenantId, id, request }),
      ),
    );
    await Promise.all(
      transfers.map(({ _id: id }) =>
        commitNamed(commit, { kind: 'applyTransferFact', tenantId, id, fact }),
      ),
    );
    expect(batches).toEqual([8, 8]);
    const completed = { tenant_id: tenantId, status: 'completed' };
    expect(await database.db.collection('transfers').countDocuments(completed)).toBe(8);
  });

  test('a transfer that another transaction holds delays no permit of the others, and gets its own in the end', async () => {
    const tenantId = await tenantWith(251_000n * 9n);
    const commit = createGroupCommit(database);
    const transfers = Array.from({ length: 9 }, () => fresh(tenantId));
    await Promise.all(
      transfers.map((transfer) => commitNamed(commit, acceptTransferMutation(transfer))),
    );
    const request = { submissions: 0, actor: 'bursar', dueAt: now() };
    const permit = ({ _id: id }: Transfer) =>
      commitNamed(commit, { kind: 'grantTransferPermit', tenantId, id, request });
    const [held, ...others] = transfers as [Transfer, ...Transfer[]];
    const session = other.client.startSession();
    session.startTransaction();
    const records = other.db.collection<{ _id: string }>('transfers');
    const touch = { $set: { touched: true } };
    await records.updateOne({ _id: held._id, tenant_id: tenantId }, touch, { session });

    const committed: number[] = [];
    commit.onBatch((batch) => void (batch.committed && committed.push(batch.mutations)));
    const waiting = permit(held).catch(() => permit(held));
    // The transaction ends after these, or when the server's limit of its time has passed.
    await Promise.all(others.map(permit));
    await session.abortTransaction();
    await session.endSession();
    await waiting;
    // The one that is held is in no commit of the others, which are divided until it is alone.
    expect(Math.max(...committed)).toBeLessThan(transfers.length);
    expect(committed.at(-1)).toBe(1);
    const submitted = { tenant_id: tenantId, submissions: 1 };
    expect(await database.db.collection('transfers').countDocuments(submitted)).toBe(9);
    await commit.idle();
  });

  test('the database stores amounts as longs, and refuses a float or an int', async () => {
    const wallets = database.db.collection<{ _id: string }>('wallets');
    const base = { receivable_minor: 0n, limit_day: '', limit_used_minor: 0n, version: 1 };
    for (const available_minor of [1.5, 1, '1', -1n]) {
      await expect(
        wallets.insertOne({ _id: newId('tenant'), available_minor, ...base } as { _id: string }),
      ).rejects.toMatchObject({ code: 121 });
    }
  });
});
