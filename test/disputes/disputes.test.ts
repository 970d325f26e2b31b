import type { z } from 'zod';
import type { Dispute } from '../../src/capabilities/disputes/record.js';
import type { disputeResource } from '../../src/capabilities/disputes/schema.js';
import { audits } from '../../src/composition/capabilities.js';
import { reconciledRecords } from '../../src/composition/reconciliation.js';
import { auditLedger } from '../../src/core/ledger/audit.js';
import { emptyReport } from '../../src/core/reconciliation/comparison.js';
import { OPERATOR_PREFIX } from '../../src/platform/http/operation.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { operatorSignIn } from '../support/operators.js';
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
  await payments.verifyUntil(
    reference,
    ({ disputed_minor: disputed, refunded_minor: refunded }) => disputed > 0 && refunded > 0,
  );
  await payments.verify(reference);
  expect(await payments.get(reference)).toMatchObject({
    disputed_minor: 200_000,
    refunded_minor: 100_000,
    attention: null,
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

/** Runs a command on disputes. Returns what it printed, or its error. */
async function run(line: string) {
  const { code, out, error } = await bursar(`disputes ${line} --json`, service.env);
  return code === 0 ? JSON.parse(out) : { code, error };
}

/** Returns the function that applies a report of an open dispute with this amount. */
async function reporterOf(reference: string, id: string) {
  const { disputes, charges } = service.deps;
  const stored = await disputes.store.find(id);
  const charge = await charges.store.byReference(tenant.id, reference);
  if (!stored || !charge) throw new Error('it is not stored');
  const about = { attempt: charge.attempt, providerDisputeId: stored.provider_dispute_id };
  return (amountMinor: bigint) =>
    disputes.store.applyFact(charge, about, {
      via: 'webhook',
      actor: null,
      note: null,
      providerRequestId: null,
      state: 'open',
      amountMinor,
      currency: 'NGN',
      funds: 'with_us',
      reason: null,
      dueAt: null,
    });
}

async function openDispute() {
  const { reference } = await payments.paid();
  await balance(NET_MINOR);
  await service.bank.dispute(reference, 'opened');
  const { id } = await waitFor(reference, 'open');
  return { reference, id };
}

test('an operator finds a contradiction, acknowledges it, and decides a dispute that its provider does not confirm with a second person', async () => {
  const { reference, id } = await openDispute();
  const { audit, database } = service.deps;
  const report = await reporterOf(reference, id);
  const contradict = () => report(1n);
  expect(await contradict()).toEqual({ verdict: 'attention' });
  const [waiting] = await run(`list --attention --tenant ${tenant.id}`);
  expect(waiting).toMatchObject({ id, tenant: tenant.id, status: 'open' });
  expect(waiting.attention).toContain('another amount: 1 kobo instead of 300000');
  expect(await run(`acknowledge ${id} --reason the-desk-was-wrong`)).toMatchObject({
    id,
    attention: null,
    acknowledged: waiting.attention,
  });
  expect(await contradict()).toEqual({ verdict: 'unchanged' });
  expect(await run(`list --attention --tenant ${tenant.id}`)).toEqual([]);
  expect(await run(`acknowledge ${id} --reason again`)).toMatchObject({ code: 1 });
  const line = `disputes decide ${id} --outcome lost --reason desk`;
  const approved = await bursarApproved(line, service.env);
  expect(approved).toMatchObject({ code: 0, error: '' });
  const answer = 'it reports the dispute as open, of 300000 kobo';
  expect(JSON.parse(approved.out)).toMatchObject({
    evidence: `the provider does not confirm it: ${answer}`,
    result: `Done: ${id}. The provider was asked now: ${answer}.`,
  });
  await waitFor(reference, 'lost');
  expect(await run(`show ${id}`)).toMatchObject({
    status: 'lost',
    funds: 'taken',
    attention: null,
  });
  expect(await audit.latest({ target: id }, 1)).toMatchObject([
    {
      action: 'disputes.decide',
      reason: 'desk',
      before: { status: 'open' },
      after: { status: 'lost' },
    },
  ]);
  await expectEvents(id, 'charge.disputed', 'charge.dispute_lost');
  // The provider decides alike in the end, and nothing moves again.
  await service.bank.dispute(reference, 'lost');
  await eventually('its message is answered', async () =>
    (await service.bank.callbacksWaiting()) === 0 ? true : undefined,
  );
  expect(await run(`show ${id}`)).toMatchObject({ status: 'lost', attention: null });
  expect((await auditLedger(database, audits)).problems).toEqual([]);
});

test('a decision ends what was acknowledged before it: a repeat of the same contradiction calls an operator again', async () => {
  const { reference, id } = await openDispute();
  const report = await reporterOf(reference, id);
  expect(await report(50_000n)).toEqual({ verdict: 'attention' });
  expect(await run(`acknowledge ${id} --reason seen`)).toMatchObject({ id, attention: null });
  expect(await report(50_000n)).toEqual({ verdict: 'unchanged' });
  const line = `disputes decide ${id} --outcome won --reason desk`;
  expect(await bursarApproved(line, service.env)).toMatchObject({ code: 0, error: '' });
  await waitFor(reference, 'won');
  expect(await report(50_000n)).toEqual({ verdict: 'attention' });
  expect((await run(`show ${id}`)).attention).toContain('another amount: 50000 kobo');
  expect(await service.bank.dispute(reference, 'won')).toBe(200);
});

test('a decision that cannot be carried out is refused at once, and nobody is asked to approve it', async () => {
  const { reference, id } = await openDispute();
  const refused = await run(`decide ${id} --outcome lost --amount-minor 300001 --reason desk`);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.error).toContain('at most 300000 kobo');
  expect(
    (await service.deps.approvals.latest(true, 100)).map(({ target }) => target),
  ).not.toContain(id);
  expect(await service.bank.dispute(reference, 'won')).toBe(200);
  await waitFor(reference, 'won');
});

test('a provider that names the outcome in another currency confirms no decision: a second person approves it', async () => {
  const { reference, id } = await openDispute();
  const collection = service.deps.database.db.collection('disputes');
  const own = { _id: id as never, tenant_id: tenant.id };
  await collection.updateOne(own, { $set: { currency: 'USD' } });
  expect(await service.bank.dispute(reference, 'lost')).toBe(200);
  await eventually('it has attention', async () =>
    (await run(`show ${id}`)).attention?.includes('another currency') ? true : undefined,
  );
  const line = `disputes decide ${id} --outcome lost --reason desk`;
  expect(await bursarApproved(line, service.env)).toMatchObject({ code: 0, error: '' });
  expect(await run(`show ${id}`)).toMatchObject({ status: 'lost' });
});

test('a decision that the provider confirms shows its answer; one that a silent provider leaves open says so in its request', async () => {
  const { reference, id } = await openDispute();
  await service.bank.faults([{ call: 'lookup', kind: 'error_500', probability: 1 }]);
  const line = `disputes decide ${id} --outcome won --reason desk --json`;
  const asked = JSON.parse((await bursar(line, service.env)).out) as Record<string, unknown>;
  expect(asked).toMatchObject({
    done: false,
    message: expect.stringContaining('does not confirm it: it does not answer.'),
  });
  await service.bank.faults([{ call: 'callback', kind: 'drop_before', probability: 1 }]);
  expect(await service.bank.dispute(reference, 'won')).toBe(200);
  expect(await run(`decide ${id} --outcome won --reason desk`)).toMatchObject({
    status: 'won',
    message: `Done: ${id}. The provider was asked now: it reports the dispute as won, of 300000 kobo.`,
  });
  await service.bank.faults([]);
});

test('the list of operators is of a tenant or of what needs an operator, and refused without either', async () => {
  const { id } = await openDispute();
  expect(await run(`list --tenant ${tenant.id}`)).toMatchObject([{ id }]);
  expect(await run('list')).toEqual({ code: 1, error: 'bursar: give --tenant or --attention' });
  const { BURSAR_OPERATOR_URL: url, BURSAR_OPERATOR_KEY: key } = await operatorSignIn(service.env);
  const answer = await fetch(`${url}${OPERATOR_PREFIX}/disputes`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('Name a tenant, or ask for attention.');
});

test('an open dispute is asked about at any age: a decision that no message told is booked by the comparison', async () => {
  const { reference } = await payments.paid();
  await balance(NET_MINOR);
  await service.bank.dispute(reference, 'opened');
  const { id } = await waitFor(reference, 'open');
  const collection = service.deps.database.db.collection<Dispute>('disputes');
  const old = new Date(Date.now() - 400 * 86_400_000);
  await collection.updateOne({ _id: id, tenant_id: tenant.id }, { $set: { created_at: old } });
  await service.bank.faults([{ call: 'callback', kind: 'drop_before', probability: 1 }]);
  await service.bank.dispute(reference, 'won');
  const compared = reconciledRecords(service.deps)['disputes'];
  const report = emptyReport();
  const { breaks } = service.deps;
  const comparing = { apply: true, takeTurn: async () => undefined, report, breaks };
  await compared?.reconcile(comparing, { since: new Date(), tenants: [tenant.id] });
  // Beside it, the disputes of the provider's list are asked about, which agree.
  expect(report).toMatchObject({ unanswered: 0, differing: 1, settled: 1 });
  expect(await waitFor(reference, 'won')).toMatchObject({ id });
  await service.bank.faults([]);
});
