import { checkBody, identityClient, newCustomerId, type CheckView } from '../support/identity.js';
import { startRehearsal, type Rehearsal } from './rehearsal.js';

let rehearsal: Rehearsal;
let fake: Rehearsal['fake'];
let identity: ReturnType<typeof identityClient>;

beforeAll(async () => {
  rehearsal = await startRehearsal();
  ({ fake } = rehearsal);
  const wanted = { balanceMinor: 0, features: { identity: true } };
  identity = identityClient(await rehearsal.service.tenant(wanted));
});
afterAll(() => rehearsal?.close());

const BVN = '22212345678';

/** Starts a check of an account. Its last three digits select what the fake does. */
async function started(digits: string, changes: object = {}): Promise<CheckView> {
  const body = { ...checkBody('bank_account', `220123456${digits}`), bvn: BVN, ...changes };
  const reply = await identity.verify(newCustomerId(), { type: 'bank_account', body });
  if (reply.status !== 201) throw new Error(`not accepted: ${reply.text}`);
  return reply.body.data;
}

describe('identity checks of live by Paystack', () => {
  test.each([
    ['789', 'verified', null],
    ['004', 'verified', null],
    ['002', 'rejected', 'account_mismatch'],
    ['006', 'failed', 'not_checked'],
  ])('of an account that ends in %s is %s', async (digits, status, code) => {
    const check = await identity.waitFor(await started(digits), status);
    expect(check).toMatchObject({ provider: 'paystack', failure: code && { code } });
    expect((await identity.customer(check.customer_id)).kyc.bank_account).toBe(status);
  });

  test('silence leaves it pending', async () => {
    const check = await started('005');
    await identity.waitFor(await started('789'), 'verified');
    expect(await identity.get(check.customer_id, check.id)).toMatchObject({ status: 'pending' });
  });

  test('whose answer is lost has one customer at Paystack, and ends', async () => {
    fake.plan('identify', 'drop_after');
    const check = await identity.waitFor(await started('789'), 'verified');
    const own = fake.customers().filter(({ email }) => email.startsWith(check.id));
    expect(own).toHaveLength(1);
  });

  test('whose request never left is sent again, though Paystack has its customer', async () => {
    fake.plan('identify', 'drop_before');
    const check = await identity.waitFor(await started('789'), 'verified');
    const record = await rehearsal.service.deps.identityChecks.store.find(check.id);
    expect(record?.submissions).toBe(2);
  });

  test('without a BVN compares the names at once', async () => {
    const names = { bvn: undefined, first_name: 'Adaeze', last_name: 'Holder' };
    await identity.waitFor(await started('789', names), 'verified');
    const other = await started('789', { ...names, last_name: 'Okonkwo' });
    expect(await identity.waitFor(other, 'rejected')).toMatchObject({
      failure: { code: 'account_mismatch' },
    });
  });

  test('of a type that Paystack does not offer is feature_not_enabled', async () => {
    for (const type of ['bvn', 'nin'] as const) {
      const { status, body } = await identity.verify(newCustomerId(), { type });
      expect([status, body.error.code]).toEqual([403, 'feature_not_enabled']);
    }
  });

  test('leaves no BVN in the database', async () => {
    const { db } = rehearsal.service.deps.database;
    for (const { name } of await db.listCollections().toArray()) {
      const rows = await db.collection(name).find({}).toArray();
      expect(
        JSON.stringify(rows, (_key, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        ),
      ).not.toContain(BVN);
    }
  });
});
