import { createPaystackAccounts } from '../../src/core/providers/paystack/account-adapter.js';
import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import { chargeReferences } from '../../src/core/providers/paystack/references.js';
import { createPaystackTransfers } from '../../src/core/providers/paystack/transfer-adapter.js';
import type { LedgerEntry } from '../../src/core/providers/transfer-provider.js';
import { effectOf } from '../../src/core/reconciliation/statement.js';
import { newId } from '../../src/shared/ids.js';
import { banksFor, CUSTOMER_DOMAIN, never, settingsFor, startFake } from './support.js';

const window = {
  from: new Date(Date.now() - 60_000),
  to: new Date(Date.now() + 3_600_000),
  cursor: null,
  takeTurn: () => Promise.resolve(),
};

let fake: Awaited<ReturnType<typeof startFake>>;
beforeAll(async () => {
  fake = await startFake();
});
afterAll(() => fake.close());

const settings = () => ({ ...settingsFor(fake.url), customerDomain: CUSTOMER_DOMAIN });
const payments = () => createPaystackPayments(settings(), banksFor(settings()));

/** The latest entries, the newest first. */
async function latest(count: number): Promise<LedgerEntry[]> {
  const provider = createPaystackTransfers(settings(), banksFor(settings()));
  const answer = await provider.ledger?.(window, never);
  if (answer?.kind !== 'page') throw new Error(`no page: ${answer?.kind}`);
  for (const [i, entry] of answer.items.entries()) {
    const before = answer.items[i + 1]?.balanceMinor ?? 0n;
    expect(entry.balanceMinor - effectOf(entry)).toBe(before);
  }
  return answer.items.slice(0, count);
}

/** A paid charge, with its reference here and at Paystack. */
async function paid(surcharge = 0) {
  const reference = `${newId('charge')}-1`;
  const order = {
    reference,
    clientReference: 'INV-118',
    amountMinor: 500_000n,
    currency: 'NGN' as const,
    customer: { id: 'customer-1', email: 'payer@example.com', name: null },
    channel: { type: 'card' as const },
    returnUrl: null,
    requestedAt: new Date(),
  };
  await payments().openPage(order, never);
  const theirs = chargeReferences.toTheirs(reference);
  fake.pay(theirs, { surcharge });
  return { reference, theirs };
}

test('a surcharge of Paystack is no part of the amount', async () => {
  const { reference } = await paid(10_333);
  expect(await latest(1)).toMatchObject([{ reference, amountMinor: 500_000n, feeMinor: 7_500n }]);
});

test('a refund of ours has our reference, one of the desk its number, and one of a dispute that of the dispute', async () => {
  const { reference, theirs } = await paid();
  const marker = newId('refund');
  const order = { charge: { reference, handle: null }, currency: 'NGN' as const, marker };
  await payments().refund(
    { ...order, amountMinor: 100_000n, clientReference: 'r-1', requestedAt: new Date() },
    never,
  );
  fake.refundAtDesk(theirs, 90_000);
  const { id } = fake.refunds().at(-1) ?? {};
  const dispute = fake.openDispute(theirs, 80_000);
  fake.resolveDispute(dispute?.id ?? 0, 'merchant-accepted');
  expect(await latest(3)).toMatchObject([
    { reference: String(dispute?.id), of: 'dispute', amountMinor: -80_000n },
    { reference: String(id), of: 'refund', amountMinor: -90_000n },
    { reference: marker, amountMinor: -100_000n },
  ]);
});

test('the return of a deposit has its reference, and so has its refund from the desk', async () => {
  const accounts = createPaystackAccounts(settings(), banksFor(settings()));
  const id = fake.deposit('0990000001', 250_000, { tell: false });
  const marker = newId('deposit');
  const at = new Date();
  const order = { id, amountMinor: 100_000n, marker, orderedAt: at, requestedAt: at };
  await accounts.returnDeposit?.(order, never);
  fake.refundAtDesk(id, 50_000);
  const [atDesk, returned, deposit] = await latest(3);
  expect(deposit).toMatchObject({ reference: id });
  expect(returned).toMatchObject({ reference: marker, amountMinor: -100_000n });
  expect(atDesk).toMatchObject({ reference: id, amountMinor: -50_000n });
  expect(atDesk).not.toHaveProperty('of');
});

test('a thing that cannot be read is an entry by its name, and the rest of the page is read', async () => {
  const { reference } = await paid();
  await paid();
  fake.plan('get_transaction', 'new_code');
  const [odd, next] = await latest(2);
  expect(odd).toMatchObject({
    reference: expect.stringMatching(/^Transaction\/\d+$/) as string,
    amountMinor: 492_500n,
    feeMinor: null,
  });
  expect(next).toMatchObject({ reference });
});

test('a thing about which Paystack is silent interrupts the page, which is read again', async () => {
  const provider = createPaystackTransfers(settings(), banksFor(settings()));
  fake.plan('get_transaction', 'error_500');
  fake.plan('get_refund', 'error_500');
  expect(await provider.ledger?.(window, never)).toMatchObject({
    kind: 'unknown',
    reason: 'server_error',
  });
});
