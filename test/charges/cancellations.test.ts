import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Charge } from '../../src/capabilities/charges/record.js';
import { createDeps } from '../../src/composition/deps.js';
import { loadConfig } from '../../src/shared/config.js';
import { paid } from '../support/charge-facts.js';
import { bursar } from '../support/cli.js';
import { startOwnApi } from '../support/own-api.js';
import {
  acquirerEffects,
  activeToken,
  chargeBody,
  onPage,
  paymentClient,
  type ChargeView,
  type PaymentClient,
  type RefundView,
} from '../support/payments.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;

beforeAll(async () => {
  service = await startService({ oneProcess: true, env: { BURSAR_DUNNING_DAYS: '1,3' } });
  tenant = await service.tenant({ balanceMinor: 0 });
  payments = paymentClient(tenant);
});
afterAll(() => service?.close());

const cancel = (reference: string) =>
  payments.call<ChargeView>('POST', `/payments/charges/${reference}/cancel`, {});
const timesPaid = async (reference: string) =>
  (await acquirerEffects(service, reference)).filter(({ kind }) => kind === 'charged').length;
const renewal = (token: { payment_token_id: string }, changes: Record<string, unknown> = {}) => {
  const { customer: _, ...body } = chargeBody('789', {
    capture_mode: 'merchant_initiated',
    payment_token_id: token.payment_token_id,
  });
  return { ...body, ...changes };
};

/** A bank that answers every call with an error, and counts the calls. */
async function failingBank() {
  let calls = 0;
  const server = createServer((_, res) => {
    calls += 1;
    res.writeHead(500).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A further API of the service, with settings of its own. */
async function apiWith(env: Record<string, string>) {
  const config = loadConfig({ ...service.env, ...env, BURSAR_LOG_LEVEL: 'silent' });
  const deps = await createDeps(config, 'test');
  const port = await service.deadPort();
  const stop = await startOwnApi(deps, port);
  return {
    async post(path: string) {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}` },
      });
      return { status: response.status, body: (await response.json()) as { data: ChargeView } };
    },
    async stop() {
      await stop();
      await deps.close();
    },
  };
}

describe('a charge that its tenant cancels', () => {
  test('on a page fails, its page takes no payment, and a repeat changes nothing', async () => {
    const { reference, url } = await payments.page();
    for (const _ of [1, 2]) {
      // A busy bank may not answer in time; then it is cancelled in the end.
      const { status, body } = await inTries(
        3,
        () => cancel(reference),
        (reply) => reply.body.data.status === 'failed',
      );
      expect([status, body.data.status, body.data.failure?.code]).toEqual([
        200,
        'failed',
        'cancelled',
      ]);
    }
    await onPage(url);
    expect(await timesPaid(reference)).toBe(0);
  });

  test('at a provider that does not answer is cancelled there in the end', async () => {
    const { reference, url } = await payments.page();
    await service.bank.faults([{ call: 'cancel', kind: 'error_500', probability: 1 }]);
    expect((await cancel(reference)).body.data.status).toBe('requires_action');
    await service.bank.faults([]);
    const { failure } = await payments.waitFor(reference, 'failed');
    expect(failure?.code).toBe('cancelled');
    await onPage(url);
    expect(await timesPaid(reference)).toBe(0);
  });

  test('again and again makes no more calls than a share of the provider’s rate', async () => {
    const { reference } = await payments.page();
    // The workflow's own calls fail at the bank, so that the charge stays open. Those of the API come to a counter.
    await service.bank.faults([{ call: 'cancel', kind: 'error_500', probability: 1 }]);
    const counter = await failingBank();
    const api = await apiWith({
      SANDBOX_BANK_URL: counter.url,
      SANDBOX_BANK_CALLS_PER_SECOND: '1',
    });
    const minute = () => Math.floor(Date.now() / 60_000);
    const first = minute();
    for (let times = 0; times < 60; times += 1) {
      const { status, body } = await api.post(`/payments/charges/${reference}/cancel`);
      expect([status, body.data.status]).toEqual([200, 'requires_action']);
    }
    const minutes = minute() - first + 1;
    await api.stop();
    counter.close();
    expect(counter.calls()).toBeGreaterThan(0);
    // A quarter of one call a second.
    expect(counter.calls()).toBeLessThanOrEqual(15 * minutes);
    await service.bank.faults([]);
    expect((await payments.waitFor(reference, 'failed')).failure?.code).toBe('cancelled');
  });

  test('while it waits for its next attempt is not tried again', async () => {
    const { token } = await activeToken(payments, 'later_low_funds');
    const body = renewal(token);
    await payments.charge(body);
    await eventually('the first attempt is declined', async () => {
      const record = await service.deps.charges.store.byReference(tenant.id, body.reference);
      return record?.first_declined_at ?? undefined;
    });
    const { status, body: answer } = await cancel(body.reference);
    expect([status, answer.data.failure?.code]).toEqual([200, 'cancelled']);
  });

  test('after it was paid is refused, with its state', async () => {
    const { reference } = await payments.paid();
    const { status, body } = await cancel(reference);
    expect([status, body.error.code, body.error.details]).toEqual([
      422,
      'invalid_state',
      { status: 'completed' },
    ]);
  });
});

describe('a renewal', () => {
  test('takes its customer from the token: the customer may be left out, or be named by its id', async () => {
    const { token } = await activeToken(payments);
    for (const changes of [{}, { customer_id: token.customer_id }]) {
      const body = renewal(token, changes);
      const accepted = await payments.charge(body);
      expect([accepted.status, accepted.body.data.customer_id]).toEqual([201, token.customer_id]);
      await payments.waitFor(body.reference, 'completed');
    }
    const other = await payments.charge(renewal(token, { customer_id: 'somebody-else' }));
    expect([other.status, other.body.error.code, other.body.error.field]).toEqual([
      422,
      'invalid_state',
      'customer_id',
    ]);
  });
});

test('refunds are listed newest first, by charge and by status, and of their tenant alone', async () => {
  const [first, second] = [await payments.paid(), await payments.paid()];
  const refund = async ({ reference }: ChargeView, suffix: string) => {
    const body = {
      charge_reference: reference,
      amount_minor: 1_000,
      reference: `${reference}-${suffix}`,
    };
    expect((await payments.refund(body)).status).toBe(201);
    return body.reference;
  };
  const made = [
    await refund(first, '789'),
    await refund(first, '002'),
    await refund(second, '789'),
  ];
  await service.allEnded();
  const list = async (query: string, client = payments) =>
    (await client.call<RefundView[]>('GET', `/payments/refunds${query}`)).body;
  const references = ({ data }: { data: RefundView[] }) => data.map(({ reference }) => reference);
  expect(references(await list(''))).toEqual(made.toReversed());
  expect(references(await list(`?charge_reference=${first.reference}&sort=created_at`))).toEqual(
    made.slice(0, 2),
  );
  expect(references(await list('?status=failed'))).toEqual([made[1]]);
  const { pagination } = await list('?limit=1&page=2');
  expect(pagination).toMatchObject({ total: 3, pages: 3, page: 2 });
  const stranger = paymentClient(await service.tenant());
  expect((await list('', stranger)).data).toEqual([]);
});

test('a charge that waits for its retry fails if its customer has paid in another currency, and an operator ends the call', async () => {
  const { token } = await activeToken(payments, 'later_low_funds');
  const body = renewal(token);
  await payments.charge(body);
  const { store, starter } = service.deps.charges;
  const waiting = await eventually('the second attempt is planned', async () => {
    const charge = await store.byReference(tenant.id, body.reference);
    return charge?.attempt === 2 ? charge : undefined;
  });
  await store.applyFact(waiting, paid({ currency: 'USD' }));
  starter.notifyChangedSoon(waiting);
  const failed = await payments.get(body.reference);
  expect(failed).toMatchObject({ status: 'failed', failure: { code: 'payment_mismatch' } });
  expect(failed.attention).not.toBeNull();
  const ended = await bursar(`charges fail ${waiting._id} --reason returned --json`, service.env);
  expect(ended).toMatchObject({ code: 0 });
  expect((await payments.get(body.reference)).attention).toBeNull();
});

test('a charge whose provider is not configured any more is not verified, cancelled or refunded, and nothing is held', async () => {
  const paidCharge = await payments.paid();
  const open = await payments.page();
  const charges = service.deps.database.db.collection<Charge>('charges');
  const move = async (provider: string) => {
    for (const { reference } of [paidCharge, open]) {
      await charges.updateOne({ tenant_id: tenant.id, reference }, { $set: { provider } });
    }
  };
  const before = await tenant.balance();
  await move('gone');
  const codes = async (reference: string) => {
    const path = `/payments/charges/${reference}`;
    const answers = [
      await payments.verify(reference),
      await payments.call('POST', `${path}/cancel`),
      await payments.refund({ charge_reference: reference, amount_minor: 1_000 }),
    ];
    return answers.map(({ status, body }) => (status < 400 ? status : body.error.code));
  };
  const gone = 'feature_not_enabled';
  const refused = [await codes(paidCharge.reference), await codes(open.reference)];
  expect(await tenant.balance()).toEqual(before);
  await move('sandbox-bank');
  expect(refused).toEqual([
    [gone, 'invalid_state', gone],
    [gone, gone, gone],
  ]);
});
