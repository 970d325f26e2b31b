import { eachAtOnce } from '../support/at-once.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { ORDER_TOTAL_MINOR, type TestTenant, type TransferView } from '../support/tenant.js';

const BALANCE_MINOR = 1_000_000;
const AFTER_PAYMENT = { available: BALANCE_MINOR - ORDER_TOTAL_MINOR, held: 0 };
const WHILE_HELD = { available: BALANCE_MINOR - ORDER_TOTAL_MINOR, held: ORDER_TOTAL_MINOR };
const UNTOUCHED = { available: BALANCE_MINOR, held: 0 };

type Row = { tenant: TestTenant; id: string };

let service: Service;

const start = async (env: Record<string, string>, bank = {}) => {
  service = await startService({ bank, env: { SANDBOX_BANK_PREPARE: 'true', ...env } });
};
const send = async (suffix: string, changes = {}): Promise<Row> => {
  const tenant = await service.tenant({ balanceMinor: BALANCE_MINOR });
  return { tenant, id: await tenant.send(suffix, changes) };
};
const effects = async (id: string) => (await service.bank.journal(id)).map(({ kind }) => kind);
const steps = async ({ tenant, id }: Row) =>
  (await tenant.stored(id)).timeline.map(({ detail }) => detail);
const faults = () => service.deps.providerFaults.list({ ended: true });

const hasEnded = ({ status }: TransferView) => status === 'completed' || status === 'failed';

async function expectPaidOnce({ tenant, id }: Row) {
  await tenant.waitFor(id, 'completed');
  expect(await effects(id)).toEqual(['paid']);
  expect(await tenant.balance()).toEqual(AFTER_PAYMENT);
}

async function expectReleased({ tenant, id }: Row, code: string) {
  const transfer = await tenant.waitFor(id, 'failed');
  expect(transfer.failure?.code).toBe(code);
  expect(await tenant.balance()).toEqual(UNTOUCHED);
}

describe('an idempotent bank that prepares recipients', () => {
  const ENDINGS = ['789', '012', '014', '015', '016', '017', '019', '020', '021', '022', '023'];
  let rows: Map<string, Row>;

  beforeAll(async () => {
    await start({ BURSAR_RECONCILIATION_DAYS: '0' });
    const all = [...ENDINGS, '024', '025'];
    rows = new Map(await Promise.all(all.map(async (each) => [each, await send(each)] as const)));
  });
  afterAll(() => service?.close());

  const row = (ending: string) => rows.get(ending) as Row;

  test.each(['789', '012', '015', '017', '021', '022', '024', '025'])(
    '%s: completed, and paid once',
    (ending) => expectPaidOnce(row(ending)),
  );

  test('012: the price of the bank is booked, from our fees', async () => {
    const { tenant, id } = row('012');
    await tenant.waitFor(id, 'completed');
    const { provider_fee_minor: price } = await tenant.stored(id);
    expect(price).toBe(1_000n);
    const posting = await service.deps.database.db
      .collection<{ _id: string; legs: { account: string; amount_minor: bigint }[] }>('postings')
      .findOne({ _id: `${id}/provider-fee` });
    expect(posting?.legs).toMatchObject([
      { account: 'fees', amount_minor: -1_000n },
      { account: 'provider-fees:sandbox-bank', amount_minor: 1_000n },
    ]);
  });

  test('the record keeps the handle of its prepared recipient', async () => {
    const { tenant, id } = row('789');
    expect((await tenant.stored(id)).handle).toMatch(/^rcp_/);
  });

  test('014: another amount moves no money, and waits for an operator', async () => {
    const { tenant, id } = row('014');
    const transfer = await tenant.waitFor(id, ({ attention }) => attention !== null);
    expect(transfer.status).toBe('processing');
    expect(await tenant.balance()).toEqual(WHILE_HELD);
  });

  test('016: a refused recipient fails the transfer before anything is submitted', async () => {
    await expectReleased(row('016'), 'account_closed');
    const { submissions } = await row('016').tenant.stored(row('016').id);
    expect(submissions).toBe(0);
  });

  test('019: an unknown word is neither a success nor a rejection, and is noted once', async () => {
    const { tenant, id } = row('019');
    const words = await eventually('the word is noted', async () => {
      const found = (await faults()).filter(({ kind }) => kind === 'word');
      return found.length > 0 ? found : undefined;
    });
    expect(words.map(({ name }) => name)).toEqual(['in_review']);
    expect(await tenant.balance()).toEqual(WHILE_HELD);
    await service.bank.decideTransfer(id, 'paid');
    await expectPaidOnce(row('019'));
  });

  test('020: a payment after a rejection is in suspense, and calls an operator', async () => {
    // The bank pays 3 s after its refusal. A busy machine may learn of the payment first, so another transfer is sent then.
    let { tenant, id } = row('020');
    for (let more = 0; more < 3; more += 1) {
      const { status } = await tenant.waitFor(id, ({ attention }) => attention !== null);
      if (status === 'completed') ({ tenant, id } = await send('020'));
    }
    const transfer = await tenant.waitFor(id, ({ attention }) => attention !== null);
    expect([transfer.status, transfer.failure?.code]).toEqual(['failed', 'provider_declined']);
    expect(await effects(id)).toEqual(['paid']);
  });

  test('023: a reversal without a callback leaves the transfer completed until somebody asks', async () => {
    // If the bank's answer is lost, the next one reports the reversal, so another transfer is sent then.
    let { tenant, id } = row('023');
    for (let more = 0; more < 3; more += 1) {
      const { status } = await tenant.waitFor(id, hasEnded);
      if (status === 'failed') ({ tenant, id } = await send('023'));
    }
    await tenant.waitFor(id, 'completed');
    await eventually('it is reversed', async () =>
      (await effects(id)).includes('reversed') ? true : undefined,
    );
    expect((await tenant.get(id)).status).toBe('completed');
  });

  test('024 and 025: a callback that cannot be read or is of elsewhere has no effect and waits for an operator', async () => {
    const events = service.deps.database.db.collection('provider_events');
    await eventually('both have failed', async () =>
      (await events.countDocuments({ status: 'failed' })) === 2 ? true : undefined,
    );
  });
});

describe('a bank with a fence', () => {
  beforeAll(() => start({ SANDBOX_BANK_RESEND_SAFETY: 'fence' }));
  afterAll(() => service?.close());

  eachAtOnce([['005'], ['022']])(
    '%s: what the bank does not know is cancelled, and the money is back',
    async (ending) => {
      const row = await send(ending);
      await expectReleased(row, 'not_executed');
      expect(await effects(row.id)).toEqual([]);
    },
  );

  eachAtOnce([['004'], ['021']])(
    '%s: a payment without an answer is found, and not cancelled',
    async (ending) => expectPaidOnce(await send(ending)),
  );
});

describe('a balance that is too small', () => {
  beforeAll(() => start({ BURSAR_PROVIDER_HEALTH_EVERY_MS: '500' }));
  afterAll(() => service?.close());

  test('rejects no transfer: all wait, an operator is called once, and they end when it is topped up', async () => {
    await service.bank.setFloat(100_000);
    const short = await send('789');
    await eventually('the balance is known to be too small', async () =>
      (await faults()).length > 0 ? true : undefined,
    );
    const behind = await send('789', { amount_minor: 1_000 });
    await eventually('the next one waits', async () =>
      (await steps(behind)).some((detail) => detail?.includes('waits for the provider: float'))
        ? true
        : undefined,
    );
    for (const { tenant, id } of [short, behind]) {
      expect(['pending', 'processing']).toContain((await tenant.get(id)).status);
      expect(await effects(id)).toEqual([]);
    }
    expect(await faults()).toMatchObject([
      { name: 'float', ended_at: null, needed_minor: 150_000n },
    ]);
    await service.bank.setFloat(null);
    await expectPaidOnce(short);
    await behind.tenant.waitFor(behind.id, 'completed');
    expect(await faults()).toMatchObject([{ name: 'float', ended_at: expect.any(Date) }]);
  });

  test('013: three refusals for the balance, then paid once', async () => {
    await expectPaidOnce(await send('013'));
  });

  test('018: a transfer that awaits an operator stops the next first submissions, and ends as the bank says', async () => {
    const row = await send('018');
    await eventually('the confirmation is known to be required', async () =>
      (await faults()).some(({ name }) => name === 'otp_required') ? true : undefined,
    );
    await expectReleased(row, 'not_confirmed');
  });

  test('afterwards the ledger balances and agrees with the bank', async () => {
    expect(await service.problems()).toEqual([]);
  });
});
