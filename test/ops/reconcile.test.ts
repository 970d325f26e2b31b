import { depositId } from '../../src/capabilities/deposits/deposit.js';
import { billClient } from '../support/bill-payments.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { onPage, paymentClient, type PaymentClient } from '../support/payments.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { accountClient } from '../support/virtual-accounts.js';

let service: Service;
let tenant: TestTenant;
let payments: PaymentClient;

beforeAll(async () => {
  service = await startService();
  tenant = await service.tenant();
  payments = paymentClient(tenant);
});
afterAll(() => service?.close());

type Row = { kind: string; id: string; difference: string; amount_minor: number; outcome: string };

async function reconcile(flags = '') {
  const line = `reconcile --per-second 1000 --json ${flags}`.trim();
  const { code, out } = await bursar(line, service.env);
  const report = JSON.parse(out) as { ok: boolean; asked: number; differences: Row[] };
  return { code, ...report };
}

const rows = (differences: readonly Row[], field: 'difference' | 'outcome') =>
  new Map(differences.map((row) => [`${row.kind} ${row.id}`, row[field]]));

/** Money of every kind that is where its record says. */
async function settle() {
  const bill = await billClient(tenant).send('006');
  const page = await payments.page();
  const charge = await payments.paid();
  const refund = `refund-${process.pid}`;
  await payments.refund({
    charge_reference: charge.reference,
    amount_minor: 50_000,
    reference: refund,
  });
  const account = await accountClient(tenant).active();
  const deposit = await service.bank.deposit(account.account_number, { amount_minor: 70_000 });
  const { deposits, bills, refunds } = {
    deposits: service.deps.database.db.collection<{ _id: string; state: string }>('deposits'),
    bills: service.deps.billPayments.store,
    refunds: service.deps.refunds.store,
  };
  await eventually('the refund, the deposit and the bill are where they stay', async () => {
    const made = await deposits.findOne({ _id: depositId('sandbox-bank', deposit) });
    const isMade = (await payments.getRefund(refund)).status === 'completed';
    const isSent = (await bills.find(bill))?.status === 'processing';
    return isMade && isSent && made?.state === 'credited' ? true : undefined;
  });
  const { _id: refundId = '' } = (await refunds.byReference(tenant.id, refund)) ?? {};
  const { _id: chargeId = '' } =
    (await service.deps.charges.store.byReference(tenant.id, page.reference)) ?? {};
  return { bill, charge: chargeId, pageUrl: page.url, refundId, account, deposit };
}

test('reconcile finds what changed at the provider for every kind of record, and applies it only with --apply', async () => {
  const { bill, charge, pageUrl, refundId, account, deposit } = await settle();
  expect(await reconcile()).toMatchObject({ code: 0, ok: true, differences: [] });

  // Nothing here may learn of the changes in another way.
  await service.worker.kill();
  await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
  await service.bank.setBillOutcome(bill, 'paid');
  await onPage(pageUrl);
  await service.bank.setRefundOutcome(refundId, 'failed');
  await service.bank.reverseDeposit(deposit);
  const missed = await service.bank.deposit(account.account_number, { amount_minor: 80_000 });

  const deposited = depositId('sandbox-bank', deposit);
  const found = await reconcile();
  expect(found).toMatchObject({ code: 1, ok: false });
  expect(rows(found.differences, 'difference')).toEqual(
    new Map([
      [`charges ${charge}`, 'requires_action with us, paid at the bank'],
      [`refunds ${refundId}`, 'completed with us, reversed at the bank'],
      [`bill-payments ${bill}`, 'processing with us, paid at the bank'],
      [`deposits ${deposited}`, 'credited with us, reversed at the bank'],
      [`deposits ${missed}`, 'unknown with us, received at the bank'],
    ]),
  );
  expect(await billClient(tenant).get(bill)).toMatchObject({ status: 'processing' });
  expect(await reconcile('--only charges')).toMatchObject({ differences: [{ id: charge }] });

  const applied = await reconcile('--apply');
  expect(new Set(rows(applied.differences, 'outcome').values())).toEqual(new Set(['applied']));
  expect(applied).toMatchObject({ code: 0, ok: true });
  await service.bank.faults([]);
  await service.worker.start();
  await eventually('the missed deposit is credited', async () =>
    (await service.deps.deposits.store.find(depositId('sandbox-bank', missed)))?.state ===
    'credited'
      ? true
      : undefined,
  );
  expect(await reconcile()).toMatchObject({ code: 0, ok: true, differences: [] });
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});

test('reconcile refuses a kind that it does not know', async () => {
  expect(await bursar('reconcile --only cards', service.env)).toMatchObject({
    code: 1,
    error: expect.stringContaining('bill-payments'),
  });
});
