import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { depositId } from '../../src/capabilities/deposits/record.js';
import { expectedRuns } from '../../src/composition/reconciliation.js';
import {
  lastRunsCollection,
  type LastRunDocument,
} from '../../src/core/reconciliation/last-runs.js';
import { billClient, BILL_MINOR } from '../support/bill-payments.js';
import { cardClient } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { paymentClient } from '../support/payments.js';
import { startService, type Service } from '../support/service.js';
import { ORDER_TOTAL_MINOR, type TestTenant } from '../support/tenant.js';
import { accountClient } from '../support/virtual-accounts.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  // The bank sends no callbacks, and nothing asks about a completed transfer but the scheduled reconciliation.
  service = await startService({
    bank: { callbacks: false },
    env: {
      BURSAR_RECONCILIATION_DAYS: '1',
      BURSAR_RECONCILIATION_EVERY_MS: '2000',
      BURSAR_DEPOSIT_SEARCH_DAYS: '1',
      BURSAR_DEPOSIT_SEARCH_EVERY_MS: '2000',
    },
  });
  tenant = await service.tenant();
});
afterAll(async () => {
  await service?.close();
});

test('a reversal whose message was lost is found by the scheduled reconciliation, and gives the money back once', async () => {
  const before = await tenant.balance();
  const [reversed, kept] = [await tenant.send('008'), await tenant.send('000')];
  await tenant.waitFor(kept, 'completed');
  const found = await tenant.waitFor(reversed, 'failed');
  expect(found).toMatchObject({ failure: { code: 'reversed' }, attention: null });
  const { timeline } = await tenant.stored(reversed);
  expect(timeline.filter(({ type }) => type === 'reversed')).toHaveLength(1);

  // Later runs find no difference.
  const runs = async () => {
    const workflows = service.deps.temporal.client.workflow.list({
      query: `WorkflowType = "transferReconciliation" AND TaskQueue = "${service.env['BURSAR_TASK_QUEUE']}" AND ExecutionStatus = "Completed"`,
    });
    let count = 0;
    for await (const _ of workflows) count += 1;
    return count;
  };
  const soFar = await runs();
  await eventually('two more reconciliations have ended', async () =>
    (await runs()) >= soFar + 2 ? true : undefined,
  );
  expect((await tenant.get(kept)).status).toBe('completed');
  expect(await service.problems()).toEqual([]);
  expect(await tenant.balance()).toEqual({
    available: before.available - ORDER_TOTAL_MINOR,
    held: 0,
  });
});

test('a refund that the provider reversed without a message is found by the scheduled comparison of refunds', async () => {
  const payments = paymentClient(tenant);
  const charge = await payments.paid();
  const reference = `refund-${process.pid}`;
  await payments.refund({ charge_reference: charge.reference, amount_minor: 50_000, reference });
  const status = async (wanted: string) =>
    eventually(`the refund is ${wanted}`, async () =>
      (await payments.getRefund(reference)).status === wanted ? true : undefined,
    );
  await status('completed');
  const { _id: id = '' } =
    (await service.deps.refunds.store.byReference(tenant.id, reference)) ?? {};
  await service.bank.setRefundOutcome(id, 'failed');
  await status('failed');
});

test('a bill payment that the biller reversed without a message is found by the scheduled comparison, and its money is back once', async () => {
  const bills = billClient(tenant);
  const before = await tenant.balance();
  const [reversed, kept] = [await bills.send('008'), await bills.send()];
  await bills.waitFor(kept, 'completed');
  const found = await bills.waitFor(reversed, 'failed');
  expect(found).toMatchObject({ failure: { code: 'reversed' }, attention: null });
  expect(await tenant.balance()).toEqual({ ...before, available: before.available - BILL_MINOR });
});

test('a completed transfer that the bank does not know raises attention', async () => {
  const id = await tenant.send('000');
  await tenant.waitFor(id, 'completed');
  await service.bank.failOver([id], 60_000);
  const { reason } = await eventually(
    'an operator is called',
    async () => (await tenant.stored(id)).attention ?? undefined,
  );
  expect(reason).toBe('reconciliation: completed with us, unknown at the bank');
  const open = await eventually('its break is written', async () =>
    (await service.deps.breaks.list({ status: 'open', limit: 10 })).find(
      ({ reference }) => reference === id,
    ),
  );
  expect(open).toMatchObject({ kind: 'missing_there', capability: 'transfers' });
});

/** The amount of a funding, in kobo. */
const FUNDED = 5_000;

test('a funding and an unloading that the issuer reversed without a message are found by the scheduled comparison', async () => {
  const cards = cardClient(tenant);
  const before = await tenant.balance();
  const [taken, closed] = [await cards.issue(), await cards.issue()];
  const fund = (id: string, name: string) =>
    cards.act(id, 'fund', { amount_minor: FUNDED, transaction_reference: name });
  const { id } = (await fund(taken.id, 'taken-008')).body.data;
  const kept = (await fund(closed.id, 'kept-789')).body.data.id;
  await cards.waitForOperation(closed.id, kept, 'completed');
  await cards.act(closed.id, 'close', { transaction_reference: 'rest-008' });
  const reversed = await cards.waitForOperation(taken.id, id, 'failed');
  expect(reversed.failure?.code).toBe('reversed');
  const unload = await eventually('the unloading is reversed', () =>
    service.deps.database.db
      .collection<CardOperation>('card_operations')
      .findOne({ card_id: closed.id, tenant_id: tenant.id, type: 'unload', status: 'failed' })
      .then((found) => found ?? undefined),
  );
  expect(unload.failure?.code).toBe('reversed');
  expect((await cards.balance(taken.id)).available_minor).toBe(0);
  expect((await cards.balance(closed.id)).available_minor).toBe(FUNDED);
  expect(await tenant.balance()).toEqual({ ...before, available: before.available - FUNDED });
});

test('a funding that the issuer does not know is a break until both agree again', async () => {
  const cards = cardClient(tenant);
  const { id: card } = await cards.issue();
  const { id } = (await cards.act(card, 'fund', { amount_minor: FUNDED })).body.data;
  await cards.waitForOperation(card, id, 'completed');
  const breakOf = (status: 'open' | 'closed') =>
    eventually(`the break is ${status}`, async () =>
      (await service.deps.breaks.list({ status, limit: 100 })).find(
        ({ reference }) => reference === id,
      ),
    );
  await service.bank.failOver([id], 600_000);
  expect(await breakOf('open')).toMatchObject({
    kind: 'missing_there',
    capability: 'card-fundings',
    amount_minor: BigInt(FUNDED),
    difference: 'completed with us, unknown at the issuer',
  });
  await service.bank.failOver([], 1);
  expect(await breakOf('closed')).toMatchObject({ closed: { by: 'agreement' } });
});

test('what an issuer does with a card without a message is found by the scheduled comparison: lock, opening and closing', async () => {
  const cards = cardClient(tenant);
  const [kept, closed] = [await cards.issue(), await cards.issue()];
  await service.bank.changeCard(kept.id, 'locked');
  expect((await cards.waitFor(kept.id, 'locked')).locked_by).toEqual(['issuer']);
  await service.bank.changeCard(kept.id, 'active');
  expect((await cards.waitFor(kept.id, 'active')).locked_by).toEqual([]);

  const { id } = (await cards.act(closed.id, 'fund', { amount_minor: FUNDED })).body.data;
  await cards.waitForOperation(closed.id, id, 'completed');
  const before = await tenant.balance();
  await service.bank.changeCard(closed.id, 'closed');
  await cards.waitFor(closed.id, 'closed');
  await eventually('its balance is in the wallet', async () =>
    (await tenant.balance()).available === before.available + FUNDED ? true : undefined,
  );
  expect((await cards.balance(closed.id)).available_minor).toBe(0);
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});

test('a deposit whose message was lost is found by the scheduled comparison, and so is its reversal', async () => {
  const account = await accountClient(tenant).active();
  const before = await tenant.balance();
  const theirs = await service.bank.deposit(account.account_number, {
    amount_minor: 250_000,
    sender_name: 'Ada Obi',
  });
  const state = (wanted: string) =>
    eventually(`the deposit is ${wanted}`, async () => {
      const found = await service.deps.deposits.store.find(depositId('sandbox-bank', theirs));
      return found?.state === wanted ? true : undefined;
    });
  await state('credited');
  expect(await tenant.balance()).toEqual({ ...before, available: before.available + 250_000 });
  await service.bank.reverseDeposit(theirs);
  await state('reversed');
  expect(await tenant.balance()).toEqual(before);
});

test('a dispute of a charge, and its decision, are found by the scheduled comparison when their messages are lost', async () => {
  const payments = paymentClient(tenant);
  const { reference } = await payments.paid();
  const status = (wanted: string) =>
    eventually(`the dispute is ${wanted}`, async () => {
      const path = `/payments/disputes?charge_reference=${reference}`;
      const { body } = await payments.call<{ status: string }[]>('GET', path);
      return body.data[0]?.status === wanted ? true : undefined;
    });
  expect(await service.bank.dispute(reference, 'opened')).toBe(200);
  await status('open');
  expect(await service.bank.dispute(reference, 'won')).toBe(200);
  await status('won');
  expect(await service.problems()).toEqual([]);
});

test('each scheduled comparison notes the end of its run', async () => {
  const { config, database, providers } = service.deps;
  const settings = { ...config, deposits: { ...config.deposits, days: 0 } };
  const expected = expectedRuns(settings, providers);
  expect(expected.length).toBeGreaterThan(8);
  for (const { kind, provider } of expected) {
    await eventually(`a run of ${kind} has ended`, async () => {
      const runs = database.db.collection<LastRunDocument>(lastRunsCollection.name);
      const run = await runs.findOne({ kind, provider, expected_since: { $type: 'date' } });
      return run?.ended_at ?? undefined;
    });
  }
});
