import {
  acquirerClient,
  submitForm,
  type AcquirerClient,
} from '../../sandbox-bank/acquirer/support.js';
import {
  bankClient,
  removeBuild,
  removeFolder,
  spawnBank,
  startReceiver,
  staysSilent,
  temporaryFolder,
  type BankProcess,
} from '../../sandbox-bank/support.js';

let folder: string;
let service: Awaited<ReturnType<typeof startReceiver>>;
let bank: BankProcess;
let client: AcquirerClient;

beforeEach(async () => {
  folder = temporaryFolder();
  service = await startReceiver();
  await start();
});

afterEach(async () => {
  await bank.kill();
  await service.close();
  removeFolder(folder);
});

afterAll(removeBuild);

async function start(): Promise<void> {
  bank = await spawnBank(folder, {
    SANDBOX_BANK_CALLBACK_URL: service.url,
    SANDBOX_BANK_PUBLIC_URL: 'https://pay.example/',
  });
  client = acquirerClient(bankClient(bank.url));
}

async function crash(): Promise<void> {
  await bank.kill();
  await start();
}

/** The URL of a page at the bank itself, instead of the public URL for browsers. */
const pageOf = ({ url }: { url: string }) => url.replace('https://pay.example', bank.url);

test('the acquirer keeps everything that it answered, or did without an answer, before kill -9', async () => {
  const paid = await client.newPage();
  expect(paid.url).toMatch(/^https:\/\/pay\.example\/pay\/[0-9a-f]{32}$/);
  await submitForm(pageOf(paid), { action: 'pay', choice: 'later_low_funds_twice' });
  const left = (await client.lookup(paid.reference)).body.authorization?.authorization ?? '';
  const [open, declined, cancelled] = [
    await client.newPage(),
    await client.newPage(),
    await client.newPage(),
  ];
  await submitForm(pageOf(declined), { action: 'pay', choice: 'stolen' });
  await submitForm(pageOf(cancelled), { action: 'cancel' });
  const attempt = client.chargeRequest(left);
  await client.charge(attempt);
  const revoked = await client.newPage();
  await submitForm(pageOf(revoked), { action: 'pay', choice: 'good' });
  const gone = (await client.lookup(revoked.reference)).body.authorization?.authorization ?? '';
  const [pending, failing, silent] = ['006', '007', '004'].map((suffix) =>
    client.chargeRequest(gone, suffix),
  );
  if (!pending || !failing || !silent) throw new Error('three orders');
  for (const request of [pending, failing, failing]) await client.charge(request);
  // The charge is flushed and not answered when the bank dies.
  expect(await staysSilent((init) => client.charge(silent, init))).toBe(true);
  await client.revoke(gone);
  const refunds = ['789', '002', '006'].map((suffix) =>
    client.refundRequest(paid.reference, suffix),
  );
  for (const request of refunds) await client.refund(request);
  const quiet = client.refundRequest(paid.reference, '004');
  expect(await staysSilent((init) => client.refund(quiet, init))).toBe(true);

  const charges = [paid, open, declined, cancelled, attempt, revoked, pending, silent];
  const known = async () => ({
    charges: await Promise.all(
      charges.map(async ({ reference }) => (await client.lookup(reference)).body),
    ),
    refunds: await client.refunds(paid.reference),
    effects: await client.effects(),
  });
  const before = await known();
  expect(before.charges.map(({ status }) => status)).toEqual([
    'paid',
    'awaiting_customer',
    'declined',
    'cancelled',
    'declined',
    'paid',
    'pending',
    'paid',
  ]);
  expect(before.refunds.map(({ status }) => status)).toEqual([
    'refunded',
    'refused',
    'pending',
    'refunded',
  ]);
  await crash();
  expect(await known()).toEqual(before);

  // The acquirer continues from its stored state.
  expect((await client.charge(attempt)).body).toEqual(before.charges[4]);
  const client_reference = attempt.client_reference;
  const statuses: string[] = [];
  for (const _ of [2, 3]) {
    const next = client.chargeRequest(left, '', { client_reference });
    statuses.push((await client.charge(next)).body.status);
  }
  expect(statuses).toEqual(['declined', 'paid']);
  expect((await client.charge(failing)).status).toBe(500);
  expect((await client.charge(failing)).body.code).toBe('authorization_revoked');
  await submitForm(pageOf(open), { action: 'pay', choice: 'good' });
  expect((await client.lookup(open.reference)).body.status).toBe('paid');
  expect((await client.reportOutcome(pending.reference, { outcome: 'paid' })).body.status).toBe(
    'paid',
  );
  const rest = client.refundRequest(paid.reference, '789', { amount_minor: 1 });
  expect((await client.refund(rest)).body.code).toBe('exceeds_charge');
  const seqs = (await client.effects()).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
});

test('a page, a charge and a refund that were scheduled before kill -9 still happen, with their callbacks', async () => {
  const page = await client.newPage('001');
  await submitForm(pageOf(page), { action: 'pay', choice: 'good' });
  const earlier = await client.newPage();
  await submitForm(pageOf(earlier), { action: 'pay', choice: 'good' });
  const left = (await client.lookup(earlier.reference)).body.authorization?.authorization ?? '';
  const later = client.chargeRequest(left, '001');
  await client.charge(later);
  const refund = client.refundRequest(earlier.reference, '001');
  await client.refund(refund);
  await crash();

  for (const { reference } of [page, later]) await service.wait(reference, 1);
  const events = await service.wait(earlier.reference, 2);
  expect(events.map(({ body }) => body.event)).toEqual(['charge.paid', 'refund.refunded']);
  expect(await client.kinds(page.reference)).toEqual(['charged']);
  expect(await client.kinds(later.reference)).toEqual(['charged']);
  expect(await client.kinds(refund.merchant_note)).toEqual(['refunded']);
});
