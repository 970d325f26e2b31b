import { createDeposits } from '../../src/capabilities/deposits/store.js';
import { movedDepositId, UNOWNED, type Deposit } from '../../src/capabilities/deposits/record.js';
import type { VirtualAccount } from '../../src/capabilities/virtual-accounts/record.js';
import { audits } from '../../src/composition/capabilities.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { auditLedger } from '../../src/core/ledger/audit.js';
import type { PostingDocument } from '../../src/core/ledger/collections.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { active, AMOUNT, confirmed, facts, NOW, reported, type Fact } from './facts.js';

const FEE = 2_500n;
const CLEARING = 'clearing:sandbox-bank';
const IN_SUSPENSE = [
  [CLEARING, -AMOUNT],
  ['suspense', AMOUNT],
  ['fees', -FEE],
  ['provider-fees:sandbox-bank', FEE],
];
const OUT_OF_SUSPENSE = [
  ['suspense', -AMOUNT],
  [CLEARING, AMOUNT],
];

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(async () => {
  await database.close();
});

/** A process of its own: the next one reads what this one has committed. */
const newStore = () =>
  createDeposits(database, createGroupCommit(database), {
    stallTimeoutMs: 1_000,
    // Each deposit is above the limit, so it is suspended.
    termsOf: () => ({ maxMinor: AMOUNT - 1n, returns: true }),
    clock: () => NOW,
  });

let made = 0;
/** A tenant with an active account, and a deposit that was reported on its account or, as most here, on nobody's. */
async function report({
  owned = false,
  feeMinor = FEE,
}: { owned?: boolean; feeMinor?: bigint | null } = {}) {
  const number = (made += 1);
  const tenant = `ten_${number}`;
  const account = { ...active, _id: `va_${number}`, tenant_id: tenant, reference: `va_${number}` };
  await database.db
    .collection<VirtualAccount>('virtual_accounts')
    .insertOne({ ...account, account_number: `98${String(number).padStart(8, '0')}` });
  const deposit = await newStore().record({
    id: `dep_${number}`,
    tenantId: owned ? tenant : UNOWNED,
    provider: reported.provider,
    reference: `dpt_${number}`,
    accountId: owned ? account._id : null,
    accountNumber: `98${String(number).padStart(8, '0')}`,
    amountMinor: AMOUNT,
    receivedAt: NOW,
    via: 'webhook',
    detail: 'reported',
  });
  const to = {
    id: movedDepositId(deposit._id),
    tenant_id: tenant,
    virtual_account_id: account._id,
  };
  const told = { ...confirmed.deposit, accountNumber: deposit.account_number, feeMinor };

  /** Applies a fact twice, as after a death between the commit and its answer. */
  async function apply(id: string, name: Fact & keyof typeof facts): Promise<Deposit> {
    for (const store of [newStore(), newStore()]) {
      const found = (await store.find(id)) as Deposit;
      const fact = facts[name];
      await store.applyFact(found, {
        ...fact,
        ...(fact.kind === 'confirmed' && { deposit: told }),
        ...(fact.kind === 'moved' && { to }),
        ...(fact.kind === 'assigned' && { account: account._id }),
      });
    }
    return (await newStore().find(id)) as Deposit;
  }
  return { id: deposit._id, tenant, to, apply };
}

/** The legs of a record's postings by step, and the balance that they require at the provider. */
async function booksOf(id: string) {
  const found = await database.db
    .collection<PostingDocument>('postings')
    .find({ _id: { $gte: `${id}/`, $lt: `${id}0` } })
    .sort({ $natural: 1 })
    .toArray();
  const legs = found.flatMap((posting) => posting.legs);
  const at = new Set([CLEARING, 'provider-fees:sandbox-bank']);
  return {
    steps: Object.fromEntries(
      found.map(({ _id, legs: of }) => [
        _id.slice(id.length + 1),
        of.map((leg) => [leg.account, leg.amount_minor]),
      ]),
    ),
    atProvider: -legs
      .filter(({ account }) => at.has(account))
      .reduce((sum, { amount_minor: minor }) => sum + minor, 0n),
  };
}

const isClean = async () => {
  const { problems } = await auditLedger(database, audits);
  // The accounts of this file are written without their counts.
  expect(problems.filter((each) => !each.startsWith('virtual_account_counts:'))).toEqual([]);
};

describe('the provider’s fee of a deposit in suspense', () => {
  test('is paid by Bursar, once, and by the tenant to whom the deposit is assigned', async () => {
    const { id, tenant, apply } = await report({ owned: true });
    await apply(id, 'confirmed');
    expect(await booksOf(id)).toEqual({
      steps: { suspense: IN_SUSPENSE },
      atProvider: AMOUNT - FEE,
    });
    await isClean();
    await apply(id, 'assigned');
    const assign = [
      ['suspense', -AMOUNT],
      ['fees', FEE],
      [`wallet:${tenant}:available`, AMOUNT - FEE],
    ];
    expect(await booksOf(id)).toEqual({
      steps: { suspense: IN_SUSPENSE, assign },
      atProvider: AMOUNT - FEE,
    });
    await isClean();
    // The provider keeps its fee, as that of a deposit that was credited at once.
    await apply(id, 'reversed');
    expect((await booksOf(id)).atProvider).toBe(-FEE);
    await isClean();
  });

  test.each([
    ['returned', ['return ordered', 'return proven'], 'return'],
    ['reversed', ['reversed'], 'suspense-reversal'],
  ] as const)('stays with Bursar if the deposit is %s', async (state, names, step) => {
    const { id, apply } = await report();
    for (const name of ['confirmed', ...names] as const) await apply(id, name);
    expect((await newStore().find(id))?.state).toBe(state);
    const books = await booksOf(id);
    expect(books.steps['suspense']).toEqual(IN_SUSPENSE);
    expect(books.steps[step]).toEqual(expect.arrayContaining(OUT_OF_SUSPENSE));
    expect(books.steps[step]).toHaveLength(2);
    expect(books.atProvider).toBe(-FEE);
    await isClean();
  });

  test('goes with the deposit to another tenant, who pays it', async () => {
    const { id, tenant, to, apply } = await report();
    await apply(id, 'confirmed');
    const moved = await apply(id, 'moved');
    const { move } = (await booksOf(id)).steps;
    expect(move).toEqual(IN_SUSPENSE.map(([account, minor]) => [account, -(minor as bigint)]));
    await isClean();
    for (const store of [newStore(), newStore()]) {
      await store.recordMoved(moved, { via: 'operator', detail: 'moved' });
    }
    await apply(id, 'move completed');
    await apply(to.id, 'confirmed');
    expect(await booksOf(id)).toMatchObject({ atProvider: 0n });
    expect(await booksOf(to.id)).toEqual({
      steps: {
        credit: [
          [CLEARING, -AMOUNT],
          ['provider-fees:sandbox-bank', FEE],
          [`wallet:${tenant}:available`, AMOUNT - FEE],
        ],
      },
      atProvider: AMOUNT - FEE,
    });
    await isClean();
  });

  test.each([
    ['more than the deposit', AMOUNT + 1n],
    ['as much as the deposit', AMOUNT],
    ['zero', 0n],
    ['unknown', null],
  ])('may be %s', async (_, feeMinor) => {
    const { id, apply } = await report({ feeMinor });
    const fee = feeMinor ?? 0n;
    await apply(id, 'confirmed');
    expect((await booksOf(id)).atProvider).toBe(AMOUNT - fee);
    await isClean();
    await apply(id, 'return ordered');
    await apply(id, 'return proven');
    expect((await booksOf(id)).atProvider).toBe(-fee);
    await isClean();
  });
});

describe('the fee of a deposit that an earlier version has suspended', () => {
  /** Nothing but the amount was booked, and the record has the fee alone. */
  async function suspendedBefore() {
    const deposit = await report({ owned: true, feeMinor: null });
    await deposit.apply(deposit.id, 'confirmed');
    await database.db
      .collection<Deposit>('deposits')
      .updateOne({ _id: deposit.id }, { $set: { fee_minor: FEE }, $unset: { fee_booked: '' } });
    await isClean();
    return deposit;
  }

  test('is booked with its assignment', async () => {
    const { id, tenant, apply } = await suspendedBefore();
    await apply(id, 'assigned');
    expect((await booksOf(id)).steps['assign']).toEqual([
      ['suspense', -AMOUNT],
      ['provider-fees:sandbox-bank', FEE],
      [`wallet:${tenant}:available`, AMOUNT - FEE],
    ]);
    await isClean();
  });

  test.each([
    ['return', ['return ordered', 'return proven']],
    ['suspense-reversal', ['reversed']],
    ['move', ['moved']],
  ] as const)('is not taken back by its %s', async (step, names) => {
    const { id, apply } = await suspendedBefore();
    for (const name of names) await apply(id, name);
    const { steps } = await booksOf(id);
    expect(Object.keys(steps)).toEqual(['suspense', step]);
    expect(steps[step]).toEqual(expect.arrayContaining(OUT_OF_SUSPENSE));
    expect(steps[step]).toHaveLength(2);
    await isClean();
  });
});

test('a fee that an earlier version has booked on the account of all providers is right, and one on another provider’s is not', async () => {
  const { id, apply } = await report({ owned: true });
  await apply(id, 'confirmed');
  const book = (account: string) =>
    database.db
      .collection<PostingDocument>('postings')
      .updateOne(
        { _id: `${id}/suspense`, 'legs.account': /^provider-fees/ },
        { $set: { 'legs.$.account': account } },
      );
  await book('provider-fees');
  await isClean();
  await book('provider-fees:another-bank');
  await expect(isClean()).rejects.toThrow(`${id}/suspense`);
});
