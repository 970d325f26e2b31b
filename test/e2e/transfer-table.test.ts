import type { ProviderEvent } from '../../src/core/provider-events/event.js';
import type { Transfer } from '../../src/capabilities/transfers/transfer.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { transferBody, ORDER_TOTAL_MINOR, type Reply, type TestTenant } from '../support/tenant.js';

const BALANCE_MINOR = 1_000_000;
const AFTER_PAYMENT = { available: BALANCE_MINOR - ORDER_TOTAL_MINOR, held: 0 };
const WHILE_HELD = { available: BALANCE_MINOR - ORDER_TOTAL_MINOR, held: ORDER_TOTAL_MINOR };
const UNTOUCHED = { available: BALANCE_MINOR, held: 0 };

const ROWS = ['789', '001', '002', '003', '004', '005', '006', '007', '008', '009', '010', '011'];

type Row = { tenant: TestTenant; body: ReturnType<typeof transferBody>; reply: Reply; id: string };

/**
 * The table runs against a bank that de-duplicates requests, and against one where only our own checks keep a transfer
 * from being paid twice.
 */
describe.each([{ deduplicate: true }, { deduplicate: false }])('bank with %p', (bank) => {
  let service: Service;
  let rows: Map<string, Row>;
  /** A second transfer that waits until the test sets its outcome. */
  let toBeRefused: Row;

  /** Creates every transfer before the first one is checked. */
  beforeAll(async () => {
    const env = { BURSAR_ATTENTION_AFTER_MS: '8000' };
    service = await startService({ bank, env });
    const made = await Promise.all([...ROWS, '006'].map(startRow));
    toBeRefused = made.pop() as Row;
    rows = new Map(made.map((row, i) => [ROWS[i] as string, row]));
  });

  afterAll(async () => {
    await service?.close();
  });

  async function startRow(suffix: string): Promise<Row> {
    const tenant = await service.tenant({ balanceMinor: BALANCE_MINOR });
    const body = transferBody(suffix);
    const reply = await tenant.transfer(body, { key: 'one key' });
    if (reply.status >= 500) throw new Error(`${suffix} was answered ${reply.text}`);
    return { tenant, body, reply, id: reply.body.data?.id };
  }

  const row = (suffix: string) => rows.get(suffix) as Row;

  async function effects(id: string) {
    const entries = await service.bank.journal(id);
    return entries.map(({ kind, amount_minor }) => ({ kind, amount_minor }));
  }

  const PAID = { kind: 'paid', amount_minor: 150_000 };

  const postings = async (id: string) =>
    (
      await service.deps.database.db
        .collection<{ _id: string }>('postings')
        .find({ _id: { $regex: `^${id}/` } })
        .toArray()
    )
      .map(({ _id }) => _id.slice(id.length + 1))
      .toSorted();

  async function expectCompletedOnce({ tenant, id, body }: Row) {
    const transfer = await tenant.waitFor(id, 'completed');
    expect(transfer).toMatchObject({
      amount_minor: 150_000,
      fee_minor: 1_000,
      total_minor: ORDER_TOTAL_MINOR,
      failure: null,
      reversed_at: null,
      session_id: expect.stringMatching(/^[0-9]{30}$/),
      completed_at: expect.any(String),
    });
    expect(await effects(id)).toEqual([PAID]);
    expect((await service.bank.journal(id))[0]?.client_reference).toBe(body.reference);
    expect(await postings(id)).toEqual(['hold', 'resolve']);
    expect(await tenant.balance()).toEqual(AFTER_PAYMENT);
    return transfer;
  }

  const callbacksAbout = (id: string) =>
    service.deps.database.db
      .collection<ProviderEvent>('provider_events')
      .find({ 'facts.reference': id })
      .sort({ received_at: 1 })
      .toArray();

  test('any other account: 201 and pending with the fee in addition, then completed', async () => {
    const { reply, id, body, tenant } = row('789');
    expect(reply.status).toBe(201);
    expect(reply.headers.get('location')).toBe(`/api/v1/transfers/${id}`);
    expect(reply.body).toMatchObject({
      success: true,
      data: {
        status: 'pending',
        reference: body.reference,
        recipient_account: body.recipient_account,
        recipient_name: expect.stringMatching(/^[A-Z]+ [A-Z]+$/),
        recipient_bank: 'Guaranty Trust Bank',
        total_minor: ORDER_TOTAL_MINOR,
      },
    });
    await expectCompletedOnce(row('789'));
    const { timeline } = await tenant.stored(id);
    const steps = timeline.map(({ type }) => type);
    expect(steps.slice(0, 2)).toEqual(['accepted', 'submitted']);
    expect(steps.at(-1)).toBe('captured');
  });

  test('001: paid later, reported by callback only, completed', async () => {
    const { completed_at: completedAt } = await expectCompletedOnce(row('001'));
    const [first, ...more] = await callbacksAbout(row('001').id);
    expect(more).toEqual([]);
    expect(Date.parse(String(completedAt))).toBeGreaterThanOrEqual(Number(first?.received_at));
  });

  test('002: rejected: failed, with the bank’s reason and the hold released', async () => {
    const { tenant, id } = row('002');
    const transfer = await tenant.waitFor(id, 'failed');
    expect(transfer).toMatchObject({ failure: { code: 'account_closed' }, completed_at: null });
    expect(await effects(id)).toEqual([]);
    expect(await tenant.balance()).toEqual(UNTOUCHED);
  });

  test('003: no such account: 422, saved under its idempotency key, no transfer and no reference used', async () => {
    const { tenant, reply, body } = row('003');
    expect([reply.status, reply.body.error.code]).toEqual([422, 'invalid_account']);
    const again = await tenant.transfer(body, { key: 'one key' });
    expect([again.status, again.text]).toEqual([422, reply.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await tenant.balance()).toEqual(UNTOUCHED);
    const { db } = service.deps.database;
    expect(await db.collection('transfers').countDocuments({ tenant_id: tenant.id })).toBe(0);
    const reused = await tenant.transfer({ ...body, recipient_account: '0123456788' });
    expect(reused.status).toBe(201);
    await tenant.waitFor(reused.body.data.id, 'completed');
  });

  test('004: paid without an answer: found by verifying, completed, paid once', async () => {
    await expectCompletedOnce(row('004'));
  });

  test('005: never answered and never paid: stays held, and raises attention', async () => {
    const { tenant, id } = row('005');
    const transfer = await tenant.waitFor(id, ({ attention }) => attention !== null);
    expect(transfer).toMatchObject({ status: 'processing', failure: null });
    expect(transfer.attention?.reason).toEqual(expect.any(String));
    expect(await effects(id)).toEqual([]);
    expect(await tenant.balance()).toEqual(WHILE_HELD);
  });

  test('006: pending until its outcome is set: paid completes it', async () => {
    const { tenant, id } = row('006');
    await tenant.waitFor(id, ({ attention }) => attention !== null);
    expect(await tenant.balance()).toEqual(WHILE_HELD);
    await service.bank.decideTransfer(id, 'paid');
    const transfer = await expectCompletedOnce(row('006'));
    expect(transfer.attention).toBeNull();
  });

  test('006: pending until its outcome is set: failed releases the hold', async () => {
    const { tenant, id } = toBeRefused;
    await service.bank.decideTransfer(id, 'failed');
    const transfer = await tenant.waitFor(id, 'failed');
    expect(transfer.failure?.code).toBe('provider_declined');
    expect(await effects(id)).toEqual([]);
    expect(await tenant.balance()).toEqual(UNTOUCHED);
  });

  test('007: three errors before the payment: completed, paid once', async () => {
    await expectCompletedOnce(row('007'));
  });

  test('008: paid and then reversed: failed with reversed_at, amount and fee returned', async () => {
    const { tenant, id } = row('008');
    const transfer = await tenant.waitFor(id, 'failed');
    expect(transfer).toMatchObject({
      failure: { code: 'reversed' },
      reversed_at: expect.any(String),
    });
    expect(await effects(id)).toEqual([PAID, { ...PAID, kind: 'reversed' }]);
    expect(await postings(id)).toEqual(['hold', 'resolve', 'reversal']);
    expect(await tenant.balance()).toEqual(UNTOUCHED);
  });

  test('009: three callbacks out of order: completed once, and not changed afterwards', async () => {
    const { id } = row('009');
    await eventually('all callbacks were taken and looked at', async () => {
      const stored = await callbacksAbout(id);
      const done = stored.length === 3 && stored.every(({ result }) => result !== null);
      return done ? true : undefined;
    });
    await expectCompletedOnce(row('009'));
    const applied = (await callbacksAbout(id)).filter(({ result }) => result === 'applied');
    expect(applied.length).toBeLessThanOrEqual(1);
  });

  test('010: 429 first: submitted again, completed, paid once', async () => {
    await expectCompletedOnce(row('010'));
  });

  test('011: accepted without a name because the enquiry hangs, then completed', async () => {
    const { reply } = row('011');
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject({
      recipient_name: null,
      recipient_bank: 'Guaranty Trust Bank',
    });
    await expectCompletedOnce(row('011'));
  });

  test('every transfer in the list of its tenant equals its own representation', async () => {
    const { tenant, id } = row('789');
    const list = JSON.parse((await tenant.call('GET', '/transfers', undefined)).text);
    expect(list.data).toEqual([await tenant.get(id)]);
  });

  test('afterwards the ledger balances and agrees with the bank, and only transfers that wait for the bank are open', async () => {
    expect(await service.problems()).toEqual([]);
    const open = service.deps.database.db
      .collection<Transfer>('transfers')
      .find({ status: { $in: ['pending', 'processing'] } });
    expect((await open.toArray()).map(({ _id }) => _id)).toEqual([row('005').id]);
  });
});
