import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expectedRuns } from '../../src/composition/reconciliation.js';
import { endOfDay, startOfDay } from '../../src/core/ledger/days.js';
import { lagosDay } from '../../src/core/ledger/wallet.js';
import { statementReconciliationId } from '../../src/core/reconciliation/workflow-contract.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import { startRehearsal, type Rehearsal } from '../paystack/rehearsal.js';

const PRELOAD = join(import.meta.dirname, '../chaos/support/shifted-clock.mjs');
/** Then the present day is over, and its list no longer grows. */
const TOMORROW_MS = 25 * 3_600_000 + 1;
const CALLS_PER_SECOND = 20;
const PAGE = 100;

let rehearsal: Rehearsal;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-statements-'));
  writeFileSync(join(folder, 'ahead'), '0');
  rehearsal = await startRehearsal(
    {},
    {
      NODE_OPTIONS: `--import=${pathToFileURL(PRELOAD).href}`,
      CLOCK_FILE: join(folder, 'ahead'),
      PAYSTACK_CALLS_PER_SECOND: String(CALLS_PER_SECOND),
      BURSAR_STATEMENT_DAYS: '2',
      BURSAR_RECONCILIATION_EVERY_MS: '2000',
    },
  );
});
afterAll(async () => {
  await rehearsal?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A payment at Paystack, of which Bursar has no record. */
async function plant(): Promise<string> {
  const provider = rehearsal.service.deps.providers.transfer('paystack');
  const reference = newId('transfer');
  const order = {
    reference,
    clientReference: 'planted',
    amountMinor: 1_250_000n,
    currency: 'NGN',
    recipient: { account: '0123456100', bankCode: '058', name: 'Invented Payee' },
    narration: 'Planted',
    requestedAt: new Date(),
  } as const;
  const never = new AbortController().signal;
  const ready = await provider.prepare?.(order, never);
  if (ready?.kind !== 'ready') throw new Error('not prepared');
  await provider.submit({ ...order, handle: ready.handle }, never);
  return reference;
}

test('the scheduled reading of the statement finds a payment that Bursar does not know; a worker that is killed meanwhile goes on from the stored page, and no row is there twice', async () => {
  const { fake, service } = rehearsal;
  const { statements, breaks, config, providers, reconciliationRuns, temporal } = service.deps;
  const tenant = await service.tenant({ balanceMinor: 50_000_000 });
  const day = lagosDay(new Date());
  for (const id of [await tenant.send('100'), await tenant.send('100')]) {
    await tenant.waitFor(id, 'completed');
  }
  const planted = await plant();
  // The newest rows come first: those of payments, each with a call of its own, are on the second page.
  for (let times = 0; times < PAGE + 10; times += 1) fake.topUp(1_000 + times);

  const runOf = async () => {
    const [from, to] = [startOfDay(day), endOfDay(lagosDay(new Date()))];
    return (await statements.within('paystack', from, to)).find((run) => run.rows > 0);
  };
  writeFileSync(join(folder, 'ahead'), String(TOMORROW_MS));
  await eventually(
    'the first page is stored',
    async () => (await runOf()) !== undefined || undefined,
  );
  await service.worker.kill();
  expect(await runOf()).toMatchObject({ rows: PAGE, has_last_row: false, cursor: '2' });
  await service.worker.start();

  const run = await eventually('the statement is compared', async () => {
    const found = await runOf();
    return found?.verdicts ? found : undefined;
  });
  const rows = PAGE + 10 + 4;
  expect(run).toMatchObject({
    rows,
    opening_minor: 0n,
    closing_minor: BigInt(fake.balance()),
    verdicts: { complete: { ok: true }, agreement: { ok: false, breaks: 1 } },
  });
  expect(await statements.rows.distinct('entry', { run: run._id })).toHaveLength(rows);
  expect(await statements.rows.countDocuments({ run: run._id })).toBe(rows);
  const firstPages = fake.requests.filter(
    ({ path, query }) =>
      path === '/balance/ledger' && query.page === '1' && query.from === run.from?.toISOString(),
  );
  expect(firstPages).toHaveLength(1);
  expect(await breaks.list({ status: 'open', limit: 10 })).toMatchObject([
    { kind: 'missing_here', source: 'statement', provider: 'paystack', reference: planted },
  ]);

  const expected = expectedRuns(config, providers);
  expect(expected).toContainEqual({ kind: 'statements', provider: 'paystack', everyMs: 2_000 });
  await eventually('the end of a run is noted', async () => {
    const last = (await reconciliationRuns.list(expected)).find(
      ({ kind }) => kind === 'statements',
    );
    return last && last.at.getTime() > Date.now() ? true : undefined;
  });
  const id = statementReconciliationId(config.temporal.taskQueue, 'paystack');
  const { action } = await temporal.client.schedule.getHandle(id).describe();
  expect(action.type === 'startWorkflow' && action.args).toMatchObject([
    { provider: 'paystack', days: 2, perSecond: 0.05 * CALLS_PER_SECOND, pageRepeats: 5 },
  ]);
});
