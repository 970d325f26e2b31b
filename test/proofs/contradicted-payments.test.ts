import { approvedPayload } from '../support/approvals.js';
import { billClient, BILL_MINOR, decideBill } from '../support/bill-payments.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { ORDER_TOTAL_MINOR, type TestTenant } from '../support/tenant.js';

const BALANCE_MINOR = 1_000_000;
const ORDERED_MINOR = 150_000;
/** Account suffix of transfers that stay pending until the test sets their outcome at the bank. */
const PENDING = '006';
const PAID = { available: BALANCE_MINOR - ORDER_TOTAL_MINOR, held: 0 };
const UNTOUCHED = { available: BALANCE_MINOR, held: 0 };

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

type Row = { tenant: TestTenant; id: string };

async function act({ tenant, id }: Row, kind: 'complete' | 'fail' | 'verify', more: object = {}) {
  const payload = { actor: 'ada', reason: 'r', session_id: null, force: false, ...more };
  const record = await tenant.stored(id);
  const sent =
    payload.force && kind !== 'verify'
      ? await approvedPayload(service.deps, 'transfers', record, payload, kind)
      : payload;
  return service.deps.transfers.starter.command(record, kind, sent);
}

/** A transfer that operators have ended by force, and of which the bank then says something else. */
async function ended(
  by: 'complete' | 'fail',
  outcome: 'paid' | 'failed',
  amountMinor?: number,
): Promise<Row> {
  const tenant = await service.tenant({ balanceMinor: BALANCE_MINOR });
  const row = { tenant, id: await tenant.send(PENDING) };
  await eventually('the bank has it', async () =>
    (await tenant.stored(row.id)).timeline.some(({ type }) => type === 'provider_answer')
      ? true
      : undefined,
  );
  expect(await act(row, by, { force: true })).toMatchObject({ done: true });
  expect(await tenant.balance()).toEqual(by === 'complete' ? PAID : UNTOUCHED);
  await service.bank.decideTransfer(row.id, outcome, amountMinor);
  await tenant.waitFor(row.id, ({ attention }) => attention !== null);
  return row;
}

const contradicted = (outcome: 'paid' | 'failed', amountMinor?: number) =>
  ended('complete', outcome, amountMinor);

/** Ids of the postings of a transfer, without its own id. */
async function postingsOf({ id }: Row): Promise<string[]> {
  const postings = service.deps.database.db.collection<{ _id: string }>('postings');
  const found = await postings.find({ _id: { $regex: `^${id}/` } }).toArray();
  return found.map(({ _id }) => _id.slice(id.length + 1)).toSorted();
}

test('a completed transfer of which the bank reports another amount is adjusted to it by complete, once, and by nothing else', async () => {
  const row = await contradicted('paid', 149_000);
  const { tenant, id } = row;
  expect(await act(row, 'complete')).toMatchObject({
    done: false,
    message: expect.stringContaining('another amount'),
  });
  expect(await act(row, 'complete', { amount_minor: ORDERED_MINOR })).toMatchObject({
    done: false,
  });
  expect(await act(row, 'fail', { force: true })).toMatchObject({ done: false });
  expect(await tenant.balance()).toEqual(PAID);
  for (let time = 0; time < 2; time += 1) {
    expect(await act(row, 'complete', { amount_minor: 149_000 })).toMatchObject({ done: true });
  }
  expect(await tenant.get(id)).toMatchObject({
    status: 'completed',
    attention: null,
    settled_amount_minor: 149_000,
  });
  expect(await tenant.balance()).toEqual({ ...PAID, available: PAID.available + 1_000 });
});

test('a completed transfer that the bank rejects is failed by force alone, and its amount and fee are back', async () => {
  const row = await contradicted('failed');
  const { tenant, id } = row;
  expect(await act(row, 'fail')).toMatchObject({
    done: false,
    message: expect.stringContaining('With force'),
  });
  expect(await tenant.balance()).toEqual(PAID);
  for (let time = 0; time < 2; time += 1) {
    expect(await act(row, 'fail', { force: true })).toMatchObject({ done: true });
  }
  expect(await tenant.get(id)).toMatchObject({
    status: 'failed',
    failure: { code: 'operator' },
    attention: null,
  });
  expect(await tenant.balance()).toEqual(UNTOUCHED);
});

describe('a forced fail of a transfer that has ended, while the bank is silent,', () => {
  afterEach(() => service.bank.faults([]));

  /** The command is refused with the reason of the call, and nothing is booked. */
  async function movesNothing(row: Row, reason: string): Promise<void> {
    const before = { balance: await row.tenant.balance(), postings: await postingsOf(row) };
    await service.bank.faults([{ call: 'lookup', kind: 'drop_before', probability: 1 }]);
    for (let time = 0; time < 2; time += 1) {
      expect(await act(row, 'fail', { force: true })).toMatchObject({
        done: false,
        message: expect.stringContaining(reason),
      });
    }
    expect({ balance: await row.tenant.balance(), postings: await postingsOf(row) }).toEqual(
      before,
    );
    expect((await row.tenant.stored(row.id)).attention?.reason).toContain(reason);
    await service.bank.faults([]);
  }

  test('takes nothing back of a completed one that the bank had rejected', async () => {
    const row = await contradicted('failed');
    await movesNothing(row, 'the bank rejects what it had reported as paid');
    expect(await postingsOf(row)).toEqual(['hold', 'resolve']);
    expect(await act(row, 'fail', { force: true })).toMatchObject({ done: true });
    expect(await postingsOf(row)).toEqual(['hold', 'resolve', 'return-1']);
    expect(await row.tenant.balance()).toEqual(UNTOUCHED);
  });

  test('leaves one in suspense there', async () => {
    const row = await ended('fail', 'paid');
    await movesNothing(row, 'after the hold had been released');
    expect(await postingsOf(row)).toEqual(['hold', 'resolve', 'suspense']);
    expect(await act(row, 'complete')).toMatchObject({ done: true });
    expect(await row.tenant.balance()).toEqual(PAID);
  });
});

test('afterwards the ledger balances and agrees with the bank', async () => {
  expect(await service.problems()).toEqual([]);
});

describe('a bill payment that operators have completed by force', () => {
  const BILL_PAID = { available: BALANCE_MINOR - BILL_MINOR, held: 0 };

  async function command(id: string, kind: 'complete' | 'fail', more: object = {}) {
    const { store, starter } = service.deps.billPayments;
    const payment = await store.find(id);
    if (!payment) throw new Error(`there is no ${id}`);
    const payload = { actor: 'ada', reason: 'r', session_id: null, force: false, ...more };
    const sent = payload.force
      ? await approvedPayload(service.deps, 'bill-payments', payment, payload, kind)
      : payload;
    return starter.command(payment, kind, sent);
  }

  /** A completed payment of which the biller then says something else. */
  async function completedBill(outcome: 'paid' | 'failed', amountMinor?: number) {
    const tenant = await service.tenant({ balanceMinor: BALANCE_MINOR });
    const bills = billClient(tenant);
    const id = await bills.send(PENDING, { item_id: 'harbour-postpaid' });
    await bills.waitFor(id, 'processing');
    expect(await command(id, 'complete', { force: true })).toMatchObject({ done: true });
    expect(await tenant.balance()).toEqual(BILL_PAID);
    await decideBill(service, id, outcome, amountMinor);
    await bills.waitFor(id, ({ attention }) => attention !== null);
    return { tenant, bills, id };
  }

  test('and that the biller refuses is failed by force alone, and its money is back', async () => {
    const { tenant, bills, id } = await completedBill('failed');
    expect(await command(id, 'fail')).toMatchObject({ done: false });
    expect(await tenant.balance()).toEqual(BILL_PAID);
    for (let time = 0; time < 2; time += 1) {
      expect(await command(id, 'fail', { force: true })).toMatchObject({ done: true });
    }
    expect(await bills.get(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'operator' },
      attention: null,
    });
    expect(await tenant.balance()).toEqual(UNTOUCHED);
  });

  test('and of which the biller reports another amount is adjusted to it by complete, once', async () => {
    const less = BILL_MINOR - 1_000;
    const { tenant, bills, id } = await completedBill('paid', less);
    expect(await command(id, 'complete')).toMatchObject({ done: false });
    for (let time = 0; time < 2; time += 1) {
      expect(await command(id, 'complete', { amount_minor: less })).toMatchObject({ done: true });
    }
    expect(await bills.get(id)).toMatchObject({
      status: 'completed',
      attention: null,
      settled_amount_minor: less,
    });
    expect(await tenant.balance()).toEqual({
      ...BILL_PAID,
      available: BILL_PAID.available + 1_000,
    });
  });
});
