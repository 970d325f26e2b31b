import type { ProviderEvent } from '../../src/core/provider-events/event.js';
import { depositId, UNOWNED, type Deposit } from '../../src/capabilities/deposits/record.js';
import { eventually } from '../support/eventually.js';
import type { TestTenant } from '../support/tenant.js';
import { accountClient, accountCustomer, type AccountClient } from '../support/virtual-accounts.js';
import { CUSTOMER_DOMAIN } from './support.js';
import { startRehearsal, type Rehearsal } from './rehearsal.js';

let rehearsal: Rehearsal;
let fake: Rehearsal['fake'];
let service: Rehearsal['service'];
let tenant: TestTenant;
let accounts: AccountClient;

beforeAll(async () => {
  rehearsal = await startRehearsal({}, { BURSAR_PROVIDER_EVENT_RETRY_SECONDS: '1,1,1,5' });
  ({ fake, service } = rehearsal);
  tenant = await service.tenant({ balanceMinor: 0, features: { virtual_accounts: true } });
  accounts = accountClient(tenant);
});
afterAll(() => rehearsal?.close());

/** A body whose phone number selects what the fake does. */
const bodyFor = (digits = '678') => ({
  customer: { id: accountCustomer(), name: 'Ada Obi', phone: `+2348012345${digits}` },
});
async function active(digits?: string) {
  const { body } = await accounts.create(bodyFor(digits));
  const account = await accounts.waitFor(body.data.id, 'active');
  return { ...account, account_number: String(account.account_number) };
}
const atPaystack = (id: string) =>
  fake.dedicatedAccounts().filter(({ email }) => email === `${id}@${CUSTOMER_DOMAIN}`);
const deposited = (reference: string, state: Deposit['state']) =>
  eventually(`the deposit is ${state}`, async () => {
    const found = await service.deps.deposits.store.find(depositId('paystack', reference));
    return found?.state === state ? found : undefined;
  });

describe('virtual accounts of live by Paystack', () => {
  test('an account needs a name and a phone number, and the refusal names the missing field', async () => {
    const { customer } = bodyFor();
    const { phone: _, ...withoutPhone } = customer;
    for (const [field, changed] of [
      ['customer.phone', withoutPhone],
      ['customer.name', { id: customer.id, phone: customer.phone }],
    ] as const) {
      const { status, body } = await accounts.create({ customer: changed });
      expect([status, body.error]).toMatchObject([400, { code: 'validation_error', field }]);
    }
  });

  test('an account is assigned at once, or later by a message', async () => {
    for (const digits of ['678', '001']) {
      const account = await active(digits);
      expect(account).toMatchObject({ provider: 'paystack', bank_name: 'Wema Bank' });
      expect(atPaystack(account.id)).toHaveLength(1);
    }
  });

  test('an account whose answer is lost is opened once', async () => {
    fake.plan('assign', 'drop_after');
    const account = await active();
    expect(atPaystack(account.id)).toHaveLength(1);
  });

  test('a refused account fails', async () => {
    const { body } = await accounts.create(bodyFor('002'));
    expect(await accounts.waitFor(body.data.id, 'failed')).toMatchObject({
      failure: { code: 'not_eligible' },
      account_number: null,
    });
  });

  test('a deposit is credited once, without the fee, also if it is told again', async () => {
    const account = await active();
    const before = await tenant.balance();
    const reference = fake.deposit(account.account_number, 250_000);
    await deposited(reference, 'credited');
    fake.tellAgain(reference);
    await eventually('all messages are answered', () =>
      fake.messagesWaiting() === 0 ? true : undefined,
    );
    expect((await tenant.balance()).available).toBe(before.available + 247_500);
    expect(await accounts.get(account.id)).toMatchObject({ total_received_minor: 250_000 });
  });

  test.each(['2026.11=A', '4111111111111111'])(
    'the message about a deposit with the reference %s is applied, and so are one about its refund and its repeat after that',
    async (reference) => {
      const account = await active();
      fake.deposit(account.account_number, 40_000, { reference });
      await deposited(reference, 'credited');
      fake.setTransaction(reference, 'reversed');
      fake.refundAtDesk(reference, 40_000);
      await deposited(reference, 'reversed');
      fake.tellAgain(reference);
      await eventually('the messages about it are applied', async () => {
        const about = await service.deps.database.db
          .collection<ProviderEvent>('provider_events')
          .find({ 'facts.subject': 'deposit', 'facts.reference': null })
          .toArray();
        expect(about.map(({ event, status, attention }) => [event, status, attention])).toEqual(
          expect.arrayContaining([
            ['deposit.received', 'processed', null],
            ['deposit.refunded', 'processed', null],
            ['deposit.reversed', 'processed', null],
          ]),
        );
        expect(about.filter(({ status }) => status !== 'processed')).toEqual([]);
        return true;
      });
    },
  );

  test('a deposit that nobody tells is found in the list of transactions', async () => {
    const account = await active();
    await deposited(fake.deposit(account.account_number, 40_000, { tell: false }), 'credited');
    expect(await accounts.get(account.id)).toMatchObject({ total_received_minor: 40_000 });
  });

  test('a deposit of another currency is not credited', async () => {
    const account = await active();
    const reference = fake.deposit(account.account_number, 40_000, { currency: 'USD' });
    await eventually('an operator is called', async () => {
      const found = await service.deps.deposits.store.find(depositId('paystack', reference));
      return found?.attention ? true : undefined;
    });
    expect(await accounts.get(account.id)).toMatchObject({ total_received_minor: 0 });
  });

  test('a closed account is unassigned at Paystack, and later money on it is suspended', async () => {
    const account = await active();
    await accounts.close(account.id);
    await accounts.waitFor(account.id, 'closed');
    expect(atPaystack(account.id)).toMatchObject([{ assigned: false }]);
    const late = await deposited(fake.deposit(account.account_number, 90_000), 'suspended');
    expect(late).toMatchObject({ match: 'late', attention: expect.anything() as unknown });
  });

  test('a deposit of another amount than expected is returned once, also if the answer is lost', async () => {
    const { body } = await accounts.create({
      ...bodyFor(),
      expected_amount_minor: 50_000,
      on_mismatch: 'return',
    });
    const { account_number: number } = await accounts.waitFor(body.data.id, 'active');
    fake.plan('refund', 'drop_after');
    const reference = fake.deposit(String(number), 60_000);
    await deposited(reference, 'returned');
    const refunds = fake
      .journal()
      .filter((entry) => entry.kind === 'refunded' && entry.reference === reference);
    expect(refunds).toMatchObject([{ amount: 60_000 }]);
    expect(await accounts.get(body.data.id)).toMatchObject({ total_received_minor: 0 });
  });

  test('a return that the balance does not cover waits for it, calls an operator and stops nothing else', async () => {
    const { body } = await accounts.create({
      ...bodyFor(),
      expected_amount_minor: 50_000,
      on_mismatch: 'return',
    });
    const { account_number: number } = await accounts.waitFor(body.data.id, 'active');
    fake.plan('refund', 'insufficient_balance');
    await deposited(fake.deposit(String(number), 70_000), 'returned');
    const faults = await service.deps.providerFaults.list();
    expect(faults).toMatchObject([{ kind: 'word', name: 'float', ended_at: null }]);
    await service.deps.providerFaults.end('paystack', 'float');
  });

  test('a deposit that staff refund on the dashboard is taken back from the wallet', async () => {
    const account = await active();
    const before = await tenant.balance();
    const reference = fake.deposit(account.account_number, 30_000);
    await deposited(reference, 'credited');
    fake.setTransaction(reference, 'reversed');
    fake.refundAtDesk(reference, 30_000);
    await deposited(reference, 'reversed');
    expect(await accounts.get(account.id)).toMatchObject({ total_received_minor: 0 });
    expect((await tenant.balance()).available).toBe(before.available - 300);
  });

  test('a deposit whose refund on the dashboard fails after it was processed calls an operator', async () => {
    const account = await active();
    const reference = fake.deposit(account.account_number, 30_000);
    await deposited(reference, 'credited');
    fake.setTransaction(reference, 'reversed');
    fake.refundAtDesk(reference, 30_000);
    await deposited(reference, 'reversed');
    fake.moveRefund(String(fake.refunds().at(-1)?.id), 'failed');
    const events = service.deps.database.db.collection<ProviderEvent>('provider_events');
    const failed = await eventually('the failure has ended', async () => {
      const found = await events.findOne({ event: 'deposit.refund_failed' });
      return found?.status === 'failed' ? found : undefined;
    });
    expect(failed.attention?.reason).toBe('refund_failed');
  });

  test('money that nobody here asked for is in suspense, and calls an operator', async () => {
    const references = [fake.payElsewhere(70_000), fake.deposit('0999999999', 60_000)];
    for (const reference of references) {
      expect(await deposited(reference, 'suspended')).toMatchObject({
        tenant_id: UNOWNED,
        attention: expect.anything() as unknown,
      });
    }
  });

  test('the books balance', async () => {
    expect(await rehearsal.problems()).toEqual([]);
  });
});
