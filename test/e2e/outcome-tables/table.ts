import type { ProviderEvent } from '../../../src/core/provider-events/event.js';
import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import type { Reply, TestTenant } from '../../support/tenant.js';
import { billPayments } from './bill-payments.js';
import type { Kind, View } from './kind.js';
import { transfers } from './transfers.js';

const BALANCE_MINOR = 1_000_000;
const UNTOUCHED = { available: BALANCE_MINOR, held: 0 };

const ROWS = ['789', '001', '002', '003', '004', '005', '006', '007', '008', '009', '010', '011'];

type Row = {
  tenant: TestTenant;
  body: ReturnType<Kind['body']>;
  reply: Reply;
  id: string;
};

/** The instructions of one kind, all created before the first one is checked. */
type Rows = {
  row: (suffix: string) => Row;
  /** A second instruction that waits until the test sets its outcome. */
  toBeRefused: Row;
};

/**
 * The tables run against a bank that de-duplicates requests, and against one where only our own checks keep an instruction
 * from being paid twice. One service has the instructions of all kinds at once, because they mostly wait.
 */
export function outcomeTables(bank: { deduplicate: boolean }): void {
  const kinds = [transfers, billPayments];
  const all = new Map<Kind, Rows>();
  let service: Service;

  beforeAll(async () => {
    service = await startService({ bank, env: { BURSAR_ATTENTION_AFTER_MS: '8000' } });
    // One kind after the other: a slow machine would refuse so many requests at once.
    for (const kind of kinds) all.set(kind, await startRows(service, kind));
  });
  afterAll(() => service?.close());

  describe.each(kinds)(`$collection at a bank with ${JSON.stringify(bank)}`, (kind) =>
    outcomeTable(
      kind,
      () => service,
      () => all.get(kind) as Rows,
    ),
  );

  test('afterwards the ledger balances and agrees with the bank, and only instructions that wait for the bank are open', async () => {
    expect(await service.problems()).toEqual([]);
    for (const kind of kinds) {
      const open = service.deps.database.db
        .collection(kind.collection)
        .find({ status: { $in: ['pending', 'processing'] } });
      const waiting = all.get(kind)?.row('005').id;
      expect((await open.toArray()).map(({ _id }) => String(_id))).toEqual([waiting]);
    }
  });
}

async function startRows(service: Service, kind: Kind): Promise<Rows> {
  async function startRow(suffix: string): Promise<Row> {
    const tenant = await service.tenant({ balanceMinor: BALANCE_MINOR });
    const body = kind.body(suffix);
    // A machine that is busy for seconds answers 503: nothing is lost, and the same request is tried again.
    const reply = await eventually(`${suffix} is accepted or refused`, async () => {
      const answer = await kind.create(tenant, body, { key: 'one key' });
      if (answer.status >= 500) throw new Error(`it was answered ${answer.text}`);
      return answer;
    });
    return { tenant, body, reply, id: reply.body.data?.id };
  }
  // One after the other: at once, a slow machine would miss the time of the name enquiries.
  const made: Row[] = [];
  for (const suffix of [...ROWS, '006']) made.push(await startRow(suffix));
  const toBeRefused = made.pop() as Row;
  const rows = new Map(made.map((row, i) => [ROWS[i] as string, row]));
  return { row: (suffix) => rows.get(suffix) as Row, toBeRefused };
}

function outcomeTable(kind: Kind, service: () => Service, rows: () => Rows): void {
  const { matches } = kind;
  const row = (suffix: string) => rows().row(suffix);
  const collection = <T extends object>(name: string) =>
    service().deps.database.db.collection<T>(name);
  const afterPayment = { available: BALANCE_MINOR - kind.totalMinor, held: 0 };
  const whileHeld = { ...afterPayment, held: kind.totalMinor };
  const paid = { kind: 'paid', amount_minor: kind.amountMinor };

  async function effects(id: string) {
    const entries = await service().bank.journal(id);
    return entries.map((entry) => ({ kind: entry.kind, amount_minor: entry.amount_minor }));
  }

  const postings = async (id: string) =>
    (
      await collection<{ _id: string }>('postings')
        .find({ _id: { $regex: `^${id}/` } })
        .toArray()
    )
      .map(({ _id }) => _id.slice(id.length + 1))
      .toSorted();

  async function expectCompletedOnce({ tenant, id, body }: Row): Promise<View> {
    const view = await kind.waitFor(tenant, id, 'completed');
    expect(view).toMatchObject({
      failure: null,
      reversed_at: null,
      completed_at: expect.any(String),
      ...matches.completed,
    });
    expect(await effects(id)).toEqual([paid]);
    expect((await service().bank.journal(id))[0]).toMatchObject({
      client_reference: body.reference,
      ...matches.journal(body),
    });
    expect(await postings(id)).toEqual(['hold', 'resolve']);
    expect(await tenant.balance()).toEqual(afterPayment);
    return view;
  }

  async function expectNothingPaid({ tenant, id }: Row): Promise<void> {
    expect(await effects(id)).toEqual([]);
    expect(await tenant.balance()).toEqual(UNTOUCHED);
  }

  const callbacksAbout = (id: string) =>
    collection<ProviderEvent>('provider_events')
      .find({ 'facts.reference': id })
      .sort({ received_at: 1 })
      .toArray();

  test('any other account: 201 and pending with its name and the total, then completed', async () => {
    const { reply, id, body, tenant } = row('789');
    expect(reply.status).toBe(201);
    expect(reply.headers.get('location')).toBe(`/api/v1${kind.path}/${id}`);
    expect(reply.body).toMatchObject({
      success: true,
      data: { status: 'pending', ...matches.accepted(body) },
    });
    await expectCompletedOnce(row('789'));
    const timeline = await tenant.call('GET', `${kind.path}/${id}/timeline`, undefined);
    const { data } = JSON.parse(timeline.text) as { data: { type: string }[] };
    const steps = data.map(({ type }) => type);
    expect(steps.slice(0, 2)).toEqual(['accepted', 'submitted']);
    expect(steps.at(-1)).toBe('captured');
  });

  test('001: paid later, reported by callback only, completed with its facts', async () => {
    const { completed_at: completedAt } = await expectCompletedOnce(row('001'));
    const [first, ...more] = await eventually('its callback is processed', async () => {
      const found = await callbacksAbout(row('001').id);
      return found.some(({ status }) => status === 'processed') ? found : undefined;
    });
    expect(more).toEqual([]);
    expect(first).toMatchObject({ status: 'processed', event: kind.paidEvent });
    expect(Date.parse(String(completedAt))).toBeGreaterThanOrEqual(Number(first?.received_at));
  });

  test('002: refused: failed, with the reason and the hold released', async () => {
    const { tenant, id } = row('002');
    const view = await kind.waitFor(tenant, id, 'failed');
    expect(view).toMatchObject({ ...matches.incomplete, ...matches.refused });
    await expectNothingPaid(row('002'));
  });

  test('003: no such account: 422, saved under its idempotency key, no record and no reference used', async () => {
    const { tenant, reply, body } = row('003');
    expect(reply.status).toBe(422);
    expect(reply.body.error).toMatchObject(matches.invalid);
    const again = await kind.create(tenant, body, { key: 'one key' });
    expect([again.status, again.text]).toEqual([422, reply.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await tenant.balance()).toEqual(UNTOUCHED);
    expect(await collection(kind.collection).countDocuments({ tenant_id: tenant.id })).toBe(0);
    const reused = await kind.create(tenant, { ...body, ...kind.acceptable }, {});
    expect(reused.status).toBe(201);
    await kind.waitFor(tenant, reused.body.data.id, 'completed');
  });

  test('004: paid without an answer: found by verifying, completed, paid once', async () => {
    await expectCompletedOnce(row('004'));
  });

  test('005: never answered and never paid: stays held, and raises attention', async () => {
    const { tenant, id } = row('005');
    const view = await kind.waitFor(tenant, id, ({ attention }) => attention !== null);
    expect(view).toMatchObject({ status: 'processing', failure: null, ...matches.incomplete });
    expect(view.attention?.reason).toEqual(expect.any(String));
    expect(await effects(id)).toEqual([]);
    expect(await tenant.balance()).toEqual(whileHeld);
  });

  test('006: pending until its outcome is set: paid completes it', async () => {
    const { tenant, id } = row('006');
    await kind.waitFor(tenant, id, ({ attention }) => attention !== null);
    expect(await tenant.balance()).toEqual(whileHeld);
    await kind.decide(service(), id, 'paid');
    expect((await expectCompletedOnce(row('006'))).attention).toBeNull();
  });

  test('006: pending until its outcome is set: failed releases the hold', async () => {
    const { tenant, id } = rows().toBeRefused;
    await kind.decide(service(), id, 'failed');
    const view = await kind.waitFor(tenant, id, 'failed');
    expect(view.failure?.code).toBe('provider_declined');
    await expectNothingPaid(rows().toBeRefused);
  });

  test('007: three errors before the payment: completed, paid once', async () => {
    await expectCompletedOnce(row('007'));
  });

  test('008: paid and then reversed: failed with reversed_at, amount and fee returned', async () => {
    const { tenant, id } = row('008');
    const view = await kind.waitFor(tenant, id, 'failed');
    expect(view).toMatchObject({
      failure: { code: 'reversed' },
      reversed_at: expect.any(String),
      ...matches.incomplete,
    });
    expect(await effects(id)).toEqual([paid, { ...paid, kind: 'reversed' }]);
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
    expect(reply.body.data).toMatchObject(matches.unnamed);
    await expectCompletedOnce(row('011'));
  });

  test('the list of its tenant shows the first one as it is', async () => {
    const { tenant, id } = row('789');
    const list = JSON.parse((await tenant.call('GET', kind.path, undefined)).text);
    expect(list.data).toEqual([matches.listed(await kind.get(tenant, id))]);
  });
}
