import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../src/shared/ids.js';
import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import { createPaystackTransfers } from '../../src/core/providers/paystack/transfer-adapter.js';
import { banksFor, ENDINGS, never, settingsFor, startCounter, startFake } from './support.js';

const requestedAt = new Date();
const account = { account: '0123456100', bankCode: '058' };
const transfer = () => ({
  reference: newId('transfer'),
  clientReference: 'INV-118',
  amountMinor: 1_250_000n,
  currency: 'NGN' as const,
  recipient: { ...account, name: 'Invented Payee' },
  narration: 'Invoice 118',
  requestedAt,
});
const charge = () => ({
  reference: `${newId('charge')}-1`,
  clientReference: 'INV-118',
  amountMinor: 500_000n,
  currency: 'NGN' as const,
  customer: { id: 'customer-1', email: 'payer@example.com', name: 'Invented Payer' },
  returnUrl: null,
  requestedAt,
});

/** The requests of the adapters that may have an effect. */
const callsOf = (
  transfers: ReturnType<typeof createPaystackTransfers>,
  payments: ReturnType<typeof createPaystackPayments>,
) => ({
  prepare: () => transfers.prepare?.(transfer(), never),
  submit: () => transfers.submit({ ...transfer(), handle: 'RCP_invented' }, never),
  openPage: () => payments.openPage({ ...charge(), channel: { type: 'card' } }, never),
  confirmCharge: () =>
    payments.confirmCharge({ ...charge(), method: 'AUTH_invented', handle: null }, never),
  setUp: () =>
    payments.setUp?.({ ...charge(), channel: { type: 'bank_account', ...account } }, never),
  refund: () => {
    const about = { reference: `${newId('charge')}-1`, handle: null };
    return payments.refund({ ...charge(), charge: about, marker: newId('refund') }, never);
  },
  resumeRefund: () => payments.resumeRefund?.({ id: '4410229', account }, never),
  revokeMethod: () => payments.revokeMethod({ code: 'AUTH_invented' }, never),
});

describe('one submission is one request', () => {
  test.each(ENDINGS)('after %s nothing is sent again', async (_what, end, timeoutMs) => {
    // The banks are known already, so each request is the submission itself.
    const fake = await startFake();
    const banks = banksFor(settingsFor(fake.url));
    await banks.list(never);
    await fake.close();
    const counter = await startCounter(end);
    const settings = settingsFor(counter.url, timeoutMs);
    const calls = callsOf(
      createPaystackTransfers(settings, banks),
      createPaystackPayments(settings, banks),
    );
    for (const [i, [name, call]] of Object.entries(calls).entries()) {
      expect([name, (await call())?.kind]).toEqual([name, 'unknown']);
      await sleep(100);
      expect([name, counter.requests()]).toEqual([name, i + 1]);
    }
    counter.close();
  });
});
