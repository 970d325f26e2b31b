import { depositId } from '../../src/capabilities/deposits/record.js';
import { billClient } from '../support/bill-payments.js';
import { cardClient } from '../support/cards.js';
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
  // The just-in-time funding is to miss its deadline.
  service = await startService({ env: { BURSAR_JIT_DEADLINE_MS: '2000' } });
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

type ListedBreak = { id: string; kind: string; reference: string; status: string; seen: number };

async function breaks(flags = ''): Promise<ListedBreak[]> {
  const { out } = await bursar(`breaks list --json ${flags}`.trim(), service.env);
  return JSON.parse(out) as ListedBreak[];
}

const rows = (differences: readonly Row[], field: 'difference' | 'outcome') =>
  new Map(differences.map((row) => [`${row.kind} ${row.id}`, row[field]]));

const OPEN = { $in: ['pending', 'processing'] };

const operationsOf = () =>
  service.deps.database.db.collection<{
    _id: string;
    tenant_id: string;
    status: string;
    acknowledged_at: Date | null;
  }>('card_operations');

/** A funding and an unloading that are pending at the issuer, and a just-in-time funding that it took back at the deadline. */
async function moveCardMoney() {
  const cards = cardClient(tenant);
  const [card, left] = [await cards.issue(), await cards.issue()];
  const named = (suffix: string) => ({ transaction_reference: `money-${process.pid}-${suffix}` });
  const fund = async (id: string, suffix: string, action = 'fund') =>
    (await cards.act(id, action, { amount_minor: 5_000, ...named(suffix) })).body.data.id;
  const late = await fund(card.id, '012', 'jit-fund');
  const funding = await fund(card.id, '006');
  await cards.waitForOperation(left.id, await fund(left.id, '789'), 'completed');
  await cards.act(left.id, 'close', named('006'));
  // On a slow machine the just-in-time funding may miss its deadline before it is sent, and then has no reversal.
  const unload = await eventually('only these two are open, and the issuer has them', async () => {
    const ended = await operationsOf().findOne({ _id: late, status: 'failed' });
    const open = await operationsOf().find({ tenant_id: tenant.id, status: OPEN }).toArray();
    const areSent = open.length === 2 && open.every((each) => each.acknowledged_at !== null);
    return ended && areSent ? open.find(({ _id }) => _id !== funding) : undefined;
  });
  return { funding, unload: unload._id };
}

/** Money of every kind that is where its record says. */
async function settle() {
  const bill = await billClient(tenant).send('006');
  const [moved, page, charge, account] = await Promise.all([
    moveCardMoney(),
    payments.page(),
    payments.paid(),
    accountClient(tenant).active(),
  ]);
  const refund = `refund-${process.pid}`;
  await payments.refund({
    charge_reference: charge.reference,
    amount_minor: 50_000,
    reference: refund,
  });
  const deposit = await service.bank.deposit(account.account_number, { amount_minor: 70_000 });
  const { deposits, bills, refunds } = {
    deposits: service.deps.database.db.collection<{ _id: string; state: string }>('deposits'),
    bills: service.deps.billPayments.store,
    refunds: service.deps.refunds.store,
  };
  await eventually('the refund, the deposit and the bill are where they stay', async () => {
    const made = await deposits.findOne({ _id: depositId('sandbox-bank', deposit) });
    const isMade = (await payments.getRefund(refund)).status === 'completed';
    const isSent = Boolean((await bills.find(bill))?.acknowledged_at);
    return isMade && isSent && made?.state === 'credited' ? true : undefined;
  });
  const { _id: refundId = '' } = (await refunds.byReference(tenant.id, refund)) ?? {};
  const { _id: chargeId = '' } =
    (await service.deps.charges.store.byReference(tenant.id, page.reference)) ?? {};
  return { bill, charge: chargeId, pageUrl: page.url, refundId, account, deposit, ...moved };
}

test('reconcile finds what changed at the provider for every kind of record, and applies it only with --apply', async () => {
  const { bill, charge, pageUrl, refundId, account, deposit, funding, unload } = await settle();
  expect(await reconcile()).toMatchObject({ code: 0, ok: true, differences: [] });

  // Nothing here may learn of the changes in another way.
  await service.worker.kill();
  await service.bank.faults([{ call: 'callback', kind: 'error_500', probability: 1 }]);
  const outcomes = [
    await service.bank.setBillOutcome(bill, 'paid'),
    await service.bank.setFundingOutcome(funding, 'funded'),
    await service.bank.setFundingOutcome(unload, 'funded'),
    await service.bank.setRefundOutcome(refundId, 'failed'),
  ];
  expect(outcomes).toEqual([200, 200, 200, 200]);
  await onPage(pageUrl);
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
      [`card-fundings ${funding}`, 'processing with us, funded at the issuer'],
      [`card-unloads ${unload}`, 'processing with us, given back at the issuer'],
    ]),
  );
  expect(await billClient(tenant).get(bill)).toMatchObject({ status: 'processing' });
  const open = await breaks();
  expect(new Map(open.map(({ reference, kind }) => [reference, kind]))).toEqual(
    new Map([
      [charge, 'other_state'],
      [refundId, 'other_state'],
      [bill, 'other_state'],
      [deposited, 'other_state'],
      [missed, 'missing_here'],
      [funding, 'other_state'],
      [unload, 'other_state'],
    ]),
  );
  expect(await reconcile('--only charges')).toMatchObject({ differences: [{ id: charge }] });

  const ofBill = open.find(({ reference }) => reference === bill)?.id ?? '';
  const explained = await bursar(`breaks explain ${ofBill}`, service.env);
  expect(explained.out).toContain(`bursar breaks ask ${ofBill}`);
  const ofFunding = open.find(({ reference }) => reference === funding)?.id ?? '';
  const shown = await bursar(`breaks explain ${ofFunding}`, service.env);
  expect(shown.out).toContain(`bursar cards show ${funding}`);
  const answered = await bursar(`breaks ask ${ofBill} --json`, service.env);
  expect([answered.code, JSON.parse(answered.out)]).toEqual([
    0,
    expect.objectContaining({ status: 'closed', seen: 1 }),
  ]);
  expect(await billClient(tenant).get(bill)).toMatchObject({ status: 'completed' });

  const applied = await reconcile('--apply');
  expect(applied.differences).toHaveLength(6);
  expect(new Set(rows(applied.differences, 'outcome').values())).toEqual(new Set(['applied']));
  expect(await breaks()).toEqual([]);
  expect(await breaks('--closed')).toHaveLength(7);
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

const HOUR_MS = 3_600_000;
const hours = (count: number) => new Date(Date.now() + count * HOUR_MS);

/** Payments of every kind, carried out. Returns the ids of their records. */
async function payAll(): Promise<string[]> {
  const { charges, refunds } = service.deps;
  const transfer = await tenant.send('000');
  const bill = await billClient(tenant).send('000');
  const { reference } = await payments.paid();
  const refund = `lost-${process.pid}`;
  await payments.refund({ charge_reference: reference, amount_minor: 40_000, reference: refund });
  const account = await accountClient(tenant).active();
  const received = await service.bank.deposit(account.account_number, { amount_minor: 60_000 });
  const deposit = depositId('sandbox-bank', received);
  await service.allEnded();
  const charge = await charges.store.byReference(tenant.id, reference);
  const refunded = await refunds.store.byReference(tenant.id, refund);
  await eventually('the deposit is credited', async () =>
    (await service.deps.deposits.store.find(deposit))?.state === 'credited' ? true : undefined,
  );
  return [transfer, bill, charge?._id ?? '', refunded?._id ?? '', deposit];
}

test('the ledger of the bank agrees with ours; after a restore it shows the payments of every kind that the database lost', async () => {
  const paid = await payAll();
  // The command takes a period that has ended an hour ago alone.
  const bank = service.deps.providers.find('sandbox-bank');
  if (!bank) throw new Error('no bank');
  const window = { from: hours(-3), to: hours(3), takeTurn: () => Promise.resolve() };
  const { _id: id } = await service.deps.statements.pull(bank, window);
  const pulled = await bursar(`statements match ${id} --json`, service.env);
  const verdicts = JSON.parse(pulled.out) as object;
  expect(verdicts).toMatchObject({ complete: true, balance: true, agreement: true });
  expect(pulled.code).toBe(0);

  // The database as it was before these payments.
  const { db } = service.deps.database;
  const lost = { _id: { $in: paid } } as object;
  for (const name of ['transfers', 'bill_payments', 'charges', 'refunds', 'deposits']) {
    expect((await db.collection(name).deleteMany(lost)).deletedCount).toBe(1);
  }
  const postings = paid.map((id) => new RegExp(`^${id}/`));
  await db.collection('postings').deleteMany({ _id: { $in: postings } } as object);
  const after = await bursar(`statements match ${id} --json`, service.env);
  expect(after.code).toBe(1);
  const found = await breaks('--kind missing_here');
  expect(new Set(found.map(({ reference }) => reference))).toEqual(new Set(paid));
});

test('reconcile refuses a kind that it does not know', async () => {
  expect(await bursar('reconcile --only cards', service.env)).toMatchObject({
    code: 1,
    error: expect.stringContaining('bill-payments'),
  });
});
