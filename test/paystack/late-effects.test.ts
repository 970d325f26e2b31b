import { createPaystackAccounts } from '../../src/core/providers/paystack/account-adapter.js';
import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import { chargeReferences } from '../../src/core/providers/paystack/references.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import { banksFor, CUSTOMER_DOMAIN, never, settingsFor, startFake } from './support.js';

let fake: Awaited<ReturnType<typeof startFake>>;
beforeAll(async () => {
  fake = await startFake();
});
afterAll(() => fake.close());

test('a charge that is still being processed is not found, so a repeat waits a minute', async () => {
  const at = (timeoutMs?: number) => {
    const settings = settingsFor(fake.url, timeoutMs);
    return createPaystackPayments(settings, banksFor(settings));
  };
  const provider = at();
  const order = () => ({
    reference: `${newId('charge')}-1`,
    clientReference: 'INV-118',
    amountMinor: 500_000n,
    currency: 'NGN' as const,
    customer: { id: 'customer-1', email: 'payer@example.com', name: null },
    requestedAt: new Date(),
    returnUrl: null,
  });
  const page = order();
  await provider.openPage({ ...page, channel: { type: 'card' } }, never);
  fake.pay(chargeReferences.toTheirs(page.reference));
  const paid = await provider.verifyCharge({ reference: page.reference, handle: null }, never);
  if (paid.kind !== 'succeeded' || !paid.method) throw new Error(`not paid: ${paid.kind}`);

  const later = { ...order(), method: paid.method.code, handle: null };
  const about = { reference: later.reference, handle: null };
  fake.plan('charge', 'late');
  expect(await at(300).confirmCharge(later, never)).toMatchObject({ kind: 'unknown' });
  expect(await provider.verifyCharge(about, never)).toMatchObject({ kind: 'not_found' });
  const safety = { kind: 'idempotent', forMs: null, pauseMs: 60_000 };
  expect(provider.payments.charges).toEqual(safety);
  await eventually('it is paid', async () =>
    (await provider.verifyCharge(about, never)).kind === 'succeeded' ? true : undefined,
  );
});

test('the failure of an earlier return is no answer about a later one, which is listed late', async () => {
  const settings = { ...settingsFor(fake.url), customerDomain: CUSTOMER_DOMAIN };
  const provider = createPaystackAccounts(settings, banksFor(settings));
  const since = new Date();
  const id = fake.deposit('0990000001', 500_000, { tell: false });
  const first = { id, amountMinor: 250_013n, marker: newId('deposit') };
  const verify = (orderedAt: Date) =>
    provider.verifyReturn?.({ ...first, orderedAt, since }, never);
  await provider.returnDeposit?.({ ...first, orderedAt: since, requestedAt: since }, never);
  await eventually('it has failed', async () =>
    (await verify(since))?.kind === 'rejected' ? true : undefined,
  );
  const orderedAt = new Date(since.getTime() + 1);
  const second = { ...first, amountMinor: 150_014n, orderedAt, requestedAt: orderedAt };
  fake.plan('refund', 'drop_after');
  expect(await provider.returnDeposit?.(second, never)).toMatchObject({ kind: 'unknown' });
  expect(await verify(orderedAt)).toMatchObject({ kind: 'not_found' });
  await eventually('the second one is listed', async () =>
    (await verify(orderedAt))?.kind === 'succeeded' ? true : undefined,
  );
});
