import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { examinePaystack } from '../../src/ops/doctor/paystack.js';
import { loadConfig } from '../../src/shared/config.js';
import type { PaystackSettings } from '../../src/shared/paystack-settings.js';
import { eachAtOnce } from '../support/at-once.js';
import { eventually } from '../support/eventually.js';
import { newCustomer, paymentClient } from '../support/payments.js';
import type { TestTenant } from '../support/tenant.js';
import { startRehearsal, type Rehearsal } from '../paystack/rehearsal.js';

let rehearsal: Rehearsal;
let tenant: TestTenant;

beforeAll(async () => {
  rehearsal = await startRehearsal();
  tenant = await rehearsal.service.tenant({ balanceMinor: 50_000_000 });
});
afterAll(() => rehearsal?.close());

const paidOut = (id: string) =>
  rehearsal.fake.journal().filter((each) => each.reference === id && each.kind === 'paid_out')
    .length;

/** The doctor's checks, with more time for an answer than the short one of the tests. */
async function examine(changes: Partial<PaystackSettings>) {
  const config = loadConfig(rehearsal.service.env);
  if (!config.paystack) throw new Error('Paystack is not configured');
  const paystack = { ...config.paystack, timeoutMs: 20_000, ...changes };
  return examinePaystack({ ...config, paystack });
}

test('in a rehearsal of live a transfer, a charge on its page, a renewal, a refund and a dispute go through, by REST alone', async () => {
  const { fake } = rehearsal;
  const own = await rehearsal.service.tenant({ balanceMinor: 50_000_000 });
  expect(own.key).toMatch(/^sk_live_/);
  const payments = paymentClient(own);
  const transfer = await own.send('100');
  await own.waitFor(transfer, 'completed');
  const customer = newCustomer();
  const { payment_token_id } = await payments.token(customer);
  const charge = await payments.page('', { customer, payment_token_id, amount_minor: 500_000 });
  await fetch(charge.url, {
    method: 'POST',
    body: new URLSearchParams({ choice: 'pay', next: 'success' }),
    redirect: 'manual',
  });
  await payments.waitFor(charge.reference, 'completed');
  const refund = { charge_reference: charge.reference, amount_minor: 50_000 };
  const { reference: refunded } = (await payments.refund(refund)).body.data;
  await eventually('the refund is completed', async () =>
    (await payments.getRefund(refunded)).status === 'completed' ? true : undefined,
  );
  await eventually('the saved card is active', async () =>
    (await payments.tokens(customer.id)).some(({ status }) => status === 'active')
      ? true
      : undefined,
  );
  const monthly = { payment_token_id, amount_minor: 400_000, interval: 'month' };
  const recurring = await payments.call<{ id: string }>(
    'POST',
    '/payments/recurring-charges',
    monthly,
  );
  expect(recurring.status).toBe(201);
  const renewal = await eventually('its first period is charged', async () => {
    const { data } = (await payments.list('?status=completed')).body;
    return data.find(({ amount_minor: minor }) => minor === 400_000);
  });
  const theirs = fake.transactions().find(({ amount }) => amount === 400_000)?.reference;
  const dispute = fake.openDispute(String(theirs), null);
  const disputeIs = (status: string) =>
    eventually(`the dispute is ${status}`, async () => {
      const path = `/payments/disputes?charge_reference=${renewal.reference}`;
      const { data } = (await payments.call<{ status: string }[]>('GET', path)).body;
      return data[0]?.status === status ? true : undefined;
    });
  await disputeIs('open');
  fake.resolveDispute(dispute?.id ?? 0, 'declined');
  await disputeIs('won');
  expect(await rehearsal.problems()).toEqual([]);
});

describe('transfers of live by Paystack', () => {
  test('a transfer is paid once, with its session, its recipient and its provider', async () => {
    const id = await tenant.send('100');
    expect(await tenant.waitFor(id, 'completed')).toMatchObject({
      provider: 'paystack',
      recipient_name: 'Adaeze Holder 100',
      recipient_bank: 'Guaranty Trust Bank',
      session_id: expect.stringMatching(/^[0-9]{17,30}$/) as string,
    });
    expect(paidOut(id)).toBe(1);
  });

  eachAtOnce([
    ['its answer is lost, and it is not found at first', '004'],
    ['its request is lost', '005'],
    ['its recipient was deleted', '014'],
    ['it is never reported', '020'],
  ])('a transfer is paid once, although %s', async (_what, suffix) => {
    const id = await tenant.send(suffix);
    await tenant.waitFor(id, 'completed');
    expect(paidOut(id)).toBe(1);
  });

  eachAtOnce([
    ['fails', '002', 'provider_declined'],
    ['misses an approval', '017', 'approval_missed'],
    ['is refused an approval', '018', 'approval_rejected'],
  ])('a transfer that %s fails, and its money is back', async (_what, suffix, code) => {
    const id = await tenant.send(suffix);
    expect(await tenant.waitFor(id, 'failed')).toMatchObject({ failure: { code } });
    expect(paidOut(id)).toBe(0);
  });

  test('a transfer that is paid and then reversed gives the money back', async () => {
    const id = await tenant.send('006');
    await eventually('the transfer is reversed', async () =>
      (await tenant.get(id)).reversed_at === null ? undefined : true,
    );
  });

  test('events that come twice and in the reverse order move money once', async () => {
    const before = await tenant.balance();
    const id = await tenant.send('001');
    await eventually('Paystack has the transfer', () => rehearsal.fake.transfer(id));
    rehearsal.fake.pauseMessages(true);
    rehearsal.fake.moveTransfer(id, 'success');
    rehearsal.fake.moveTransfer(id, 'reversed');
    expect(rehearsal.fake.messagesWaiting()).toBeGreaterThanOrEqual(2);
    rehearsal.fake.sendInDisorder();
    await eventually('every message is taken', () =>
      rehearsal.fake.messagesWaiting() === 0 ? true : undefined,
    );
    await eventually('the transfer is reversed', async () =>
      (await tenant.get(id)).reversed_at === null ? undefined : true,
    );
    expect(await tenant.balance()).toEqual(before);
    expect(paidOut(id)).toBe(1);
  });

  test.each(['throttle_seconds', 'throttle_time_stamp', 'error_500_after', 'drop_after'] as const)(
    'a submission that ends with %s is paid once',
    async (fault) => {
      rehearsal.fake.plan('submit', fault);
      const id = await tenant.send('100');
      await tenant.waitFor(id, 'completed');
      expect(paidOut(id)).toBe(1);
    },
  );

  test('a float that is too small makes a transfer wait, and never fail', async () => {
    const id = await tenant.send('013');
    await tenant.waitFor(id, 'completed');
    expect(paidOut(id)).toBe(1);
  });

  test('a transfer that stays pending goes on by its event', async () => {
    const id = await tenant.send('001');
    await eventually('Paystack has the transfer', () => rehearsal.fake.transfer(id));
    rehearsal.fake.moveTransfer(id, 'success');
    await tenant.waitFor(id, 'completed');
  });

  test('the doctor names the key, the float, the clock and the last callback', async () => {
    const checks = await examine({});
    expect(checks.map(({ check, ok }) => [check, ok])).toEqual([
      ['paystack: key', true],
      ['paystack: OTP', true],
      ['paystack: float', true],
      ['paystack: clock', true],
      ['paystack: callbacks', true],
    ]);
    expect(JSON.stringify(checks)).not.toContain('inventedkey');
    expect(checks[0]?.detail).toContain('only a payment shows whether it may pay');
  });

  describe('the doctor', () => {
    const failing = async (changes: Partial<PaystackSettings>) =>
      (await examine(changes)).filter(({ ok }) => !ok);

    test('says that Paystack refuses the key, and that its list of addresses may be the reason', async () => {
      const [key] = await failing({ keys: ['sk_live_another00000000'] });
      expect(key).toMatchObject({ check: 'paystack: key', detail: 'Paystack refuses the key' });
      expect(key?.hint).toContain('IP addresses');
    });

    test.each([
      ['list', '/transfer'],
      ['refunds', '/refund'],
    ])('names the call that the key may not make: %s', async (call, path) => {
      rehearsal.fake.plan(call, 'no_privilege');
      expect(await failing({})).toMatchObject([
        {
          check: 'paystack: key',
          detail: `the key cannot read all: GET ${path}: refused, so the key may lack the privilege (HTTP 400)`,
        },
      ]);
    });

    test('says that Paystack is used and has sent no message, and to which address it sends them', async () => {
      await tenant.waitFor(await tenant.send(), 'completed');
      const { db } = rehearsal.service.deps.database;
      const received = await db.collection('provider_events').find().toArray();
      // A message may come in between.
      const row = await eventually('there is no message', async () => {
        await db.collection('provider_events').deleteMany({});
        return (await failing({}))[0];
      });
      expect(row).toMatchObject({ check: 'paystack: callbacks', detail: 'none came so far' });
      expect(row?.hint).toContain('/api/v1/webhooks/payments/paystack');
      if (received.length > 0) await db.collection('provider_events').insertMany(received);
    });

    test('says that the balance is empty', async () => {
      const balance = rehearsal.fake.balance();
      rehearsal.fake.topUp(-balance);
      expect(await failing({})).toMatchObject([{ check: 'paystack: float', detail: '0.00 NGN' }]);
      rehearsal.fake.topUp(balance);
    });

    test('says that a transfer waits for a code', async () => {
      const { providerFaults } = rehearsal.service.deps;
      await providerFaults.report('paystack', 'otp_required');
      const [row] = await failing({});
      expect(row).toMatchObject({ check: 'paystack: OTP' });
      expect(row?.hint).toContain('Confirm transfers before sending');
      await providerFaults.end('paystack', 'otp_required');
    });

    test('says that the clock differs from Paystack’s', async () => {
      const server = createServer((_request, response) => {
        response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString());
        response.end(
          JSON.stringify({ status: true, data: [{ currency: 'NGN', balance: 500_000 }] }),
        );
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      expect(await failing({ url })).toMatchObject([{ check: 'paystack: clock' }]);
      server.closeAllConnections();
      server.close();
    });
  });

  test('the books balance', async () => {
    expect(await rehearsal.problems()).toEqual([]);
  });
});
