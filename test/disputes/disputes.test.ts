import type { z } from 'zod';
import type { disputeResource } from '../../src/capabilities/disputes/schema.js';
import { eventually } from '../support/eventually.js';
import { FEE_MINOR, onPage, paymentClient, type PaymentClient } from '../support/payments.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

type DisputeView = z.infer<typeof disputeResource>;

const NET_MINOR = 300_000 - FEE_MINOR;

let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;
let receiver: Receiver;

beforeAll(async () => {
  service = await shareService();
  receiver = await startReceiver();
});
beforeEach(async () => {
  tenant = await service.tenant({ balanceMinor: 0 });
  payments = paymentClient(tenant);
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const list = async (query = '') =>
  (await payments.call<DisputeView[]>('GET', `/payments/disputes${query}`)).body;

const waitFor = (reference: string, status: string): Promise<DisputeView> =>
  eventually(`the dispute of ${reference} is ${status}`, async () => {
    const { data } = await list(`?charge_reference=${reference}`);
    return data[0]?.status === status ? data[0] : undefined;
  });

const balance = (available: number) =>
  eventually(`the balance is ${available}`, async () =>
    (await tenant.balance()).available === available ? true : undefined,
  );

async function expectEvents(id: string, ...names: string[]) {
  const received = () =>
    receiver
      .events()
      .filter(({ data }) => data['id'] === id)
      .toSorted((a, b) => a.sequence - b.sequence);
  await eventually(`the events of ${id}`, () =>
    received().length >= names.length ? true : undefined,
  );
  expect(received().map(({ event, sequence }) => [event, sequence])).toEqual(
    names.map((name, i) => [name, i + 1]),
  );
}

test('a disputed charge takes its amount from the wallet, which has it again when the dispute is won', async () => {
  const { reference } = await payments.paid();
  await balance(NET_MINOR);
  expect(await service.bank.dispute(reference, 'opened')).toBe(200);
  const dispute = await waitFor(reference, 'open');
  expect(dispute).toMatchObject({ charge_reference: reference, amount_minor: 300_000 });
  // The provider has kept its fee, so the wallet lacks it and the tenant owes it.
  expect(await tenant.balance()).toEqual({ available: 0, held: 0 });
  expect(dispute.attention?.reason).toContain('owes');
  expect((await payments.get(reference)).disputed_minor).toBe(300_000);
  const refund = await payments.refund({ charge_reference: reference, amount_minor: 1 });
  expect([refund.status, refund.body.error.code]).toEqual([422, 'invalid_state']);
  expect(await service.bank.dispute(reference, 'won')).toBe(200);
  expect(await waitFor(reference, 'won')).toMatchObject({ id: dispute.id, attention: null });
  await balance(NET_MINOR);
  expect((await payments.get(reference)).disputed_minor).toBe(0);
  await expectEvents(dispute.id, 'charge.disputed', 'charge.dispute_won');
  const found = await payments.call<DisputeView>('GET', `/payments/disputes/${dispute.id}`);
  expect(found.body.data).toEqual(await waitFor(reference, 'won'));
  expect((await list('?status=open')).data).toEqual([]);
});

test('disputes end as the table of test values has them, and the books agree with the network’s journal', async () => {
  const table = [
    ['020', 'open'],
    ['021', 'won'],
    ['022', 'lost'],
  ] as const;
  await Promise.all(
    table.map(async ([suffix, status]) => {
      const { reference, url } = await payments.page(suffix);
      await onPage(url);
      await waitFor(reference, status);
    }),
  );
  expect(await service.problems()).toEqual([]);
});

test('a dispute and a refund from the desk that no message tells are found by verifying the charge, once', async () => {
  const { reference } = await payments.paid();
  await service.bank.faults([{ call: 'callback', kind: 'drop_before', probability: 1 }]);
  await service.bank.dispute(reference, 'opened', { amount_minor: 200_000, funds: 'taken' });
  await service.bank.refundAtDesk(reference, 100_000);
  for (const _ of [1, 2]) await payments.verify(reference);
  expect(await payments.get(reference)).toMatchObject({
    disputed_minor: 200_000,
    refunded_minor: 100_000,
  });
  await service.bank.faults([]);
  await eventually('the callbacks arrive after all', async () =>
    (await service.bank.callbacksWaiting()) === 0 ? true : undefined,
  );
  expect(await payments.get(reference)).toMatchObject({
    disputed_minor: 200_000,
    refunded_minor: 100_000,
  });
  expect((await list()).data).toHaveLength(1);
  expect(await service.problems()).toEqual([]);
});
