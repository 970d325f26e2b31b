import { approvedPayload } from '../support/approvals.js';
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

/** A transfer that operators have completed by force, and of which the bank then says something else. */
async function contradicted(outcome: 'paid' | 'failed', amountMinor?: number): Promise<Row> {
  const tenant = await service.tenant({ balanceMinor: BALANCE_MINOR });
  const row = { tenant, id: await tenant.send(PENDING) };
  await eventually('the bank has it', async () =>
    (await tenant.stored(row.id)).timeline.some(({ type }) => type === 'provider_answer')
      ? true
      : undefined,
  );
  expect(await act(row, 'complete', { force: true })).toMatchObject({ done: true });
  expect(await tenant.balance()).toEqual(PAID);
  await service.bank.decideTransfer(row.id, outcome, amountMinor);
  await tenant.waitFor(row.id, ({ attention }) => attention !== null);
  return row;
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

test('afterwards the ledger balances and agrees with the bank', async () => {
  expect(await service.problems()).toEqual([]);
});
