import { startService, type Api, type Service } from '../../support/service.js';
import { eventually } from '../../support/eventually.js';
import { paymentClient } from '../../support/payments.js';
import { transferBody, type Reply, type TestTenant } from '../../support/tenant.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({ apis: 2, workers: 2, bank: { deduplicate: false } });
  tenant = await service.tenant({ balanceMinor: 1_000_000_000 });
});

afterAll(async () => {
  await service?.close();
});

/** A new account each time, so that the slow name enquiry keeps every request in flight. */
const slowTransferBody = (i: number) =>
  transferBody('789', { recipient_account: String(2_000_000_789 + i * 1_000) });

test('an API answers the requests in flight after SIGTERM, accepts no others, and exits with 0', async () => {
  const draining = service.apis[1] as Api;
  const at = tenant.at(draining.url);
  await service.bank.faults([{ call: 'enquiry', kind: 'slow', probability: 1, ms: 1_000 }]);
  const underWay = Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      at.transfer(slowTransferBody(i), { key: `under way ${i}` }),
    ),
  );
  // Requests that were sent before these answers have reached the API.
  for (const _ of [1, 2, 3]) expect((await fetch(`${draining.url}/health/live`)).status).toBe(200);
  const exit = draining.stop();
  expect(new Set((await underWay).map(({ status }) => status))).toEqual(new Set([201]));
  expect(await exit).toEqual({ code: 0, signal: null });
  await expect(at.transfer(transferBody())).rejects.toThrow();
  await service.bank.faults([]);
});

test('an API answers requests that wait for an outcome with the present state after SIGTERM', async () => {
  const draining = service.apis[1] as Api;
  await draining.start();
  const { reference: charge_reference } = await paymentClient(tenant).paid();
  const at = tenant.at(draining.url);
  const prefer = { headers: { prefer: 'wait=30' } };
  // All of them stay open until the test sets an outcome at the bank; a drain ends waits of more than 15 s.
  const refund = { charge_reference, amount_minor: 1_000, reference: 'drained-006' };
  const waiting = Promise.all([
    at.transfer(transferBody('006', { reference: 'drained' }), prefer),
    paymentClient(at).refund(refund, prefer),
  ]);
  await eventually('the bank has both', async () => {
    const { db } = service.deps.database;
    const out = { status: 'processing', reference: /^drained/ };
    const counts = ['transfers', 'refunds'].map((name) => db.collection(name).countDocuments(out));
    return (await Promise.all(counts)).every((count) => count === 1) ? true : undefined;
  });
  const exit = draining.stop();
  const [transfer, refunded] = await waiting;
  expect([transfer.status, transfer.body.data.status]).toEqual([201, 'processing']);
  expect([refunded.status, refunded.body.data.status]).toEqual([201, 'processing']);
  expect(await exit).toEqual({ code: 0, signal: null });
  expect(await service.bank.setTransferOutcome(transfer.body.data.id, 'failed')).toBeLessThan(300);
  expect(await service.bank.setRefundOutcome(refund.reference, 'failed')).toBeLessThan(300);
});

test('an API under load has accepted exactly the requests that it answered before SIGTERM', async () => {
  const draining = service.apis[0] as Api;
  const requests: { reference: string; reply: Reply | null }[] = [];
  let refused = 0;
  const client = async () => {
    while (refused < 3) {
      const body = transferBody();
      const reply = await tenant.transfer(body).catch(() => null);
      requests.push({ reference: body.reference, reply });
      // The API does not listen any more.
      if (!reply) refused += 1;
    }
  };
  const load = Promise.all(Array.from({ length: 12 }, client));
  await eventually('it is under load', () => (requests.length >= 60 ? true : undefined));
  expect(await draining.stop()).toEqual({ code: 0, signal: null });
  await load;
  await draining.start();

  const answered = requests.filter(({ reply }) => reply !== null);
  expect(new Set(answered.map(({ reply }) => reply?.status))).toEqual(new Set([201]));
  const made = await service.deps.database.db
    .collection<{ reference: string }>('transfers')
    .find({ reference: { $in: requests.map(({ reference }) => reference) } })
    .toArray();
  expect(made.map(({ reference }) => reference).toSorted()).toEqual(
    answered.map(({ reference }) => reference).toSorted(),
  );
});

test('a worker under load exits with 0 on SIGTERM, and every transfer is paid once', async () => {
  await service.bank.faults([{ call: 'submit', kind: 'slow', probability: 0.5, ms: 400 }]);
  const [stopping] = service.workers;
  const ids = await Promise.all(Array.from({ length: 30 }, () => tenant.send()));
  await eventually('some are paid and others are not', async () => {
    const paid = new Set((await service.bank.journal()).map(({ reference }) => reference));
    return ids.some((id) => paid.has(id)) ? true : undefined;
  });
  expect(await stopping?.stop()).toEqual({ code: 0, signal: null });
  for (const id of ids) await tenant.waitFor(id, 'completed');
});

test('after the drains the ledger balances and agrees with the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
