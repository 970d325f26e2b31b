import { newId } from '../../src/shared/ids.js';
import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import type { PaymentProvider } from '../../src/core/providers/payment-provider.js';
import { banksFor, never, settingsFor, startFake } from './support.js';

const EMAIL = 'payer@example.com';
const mandateAt = (bankCode: string) => ({
  reference: newId('paymentToken'),
  clientReference: 'INV-118',
  customer: { id: 'customer-1', email: EMAIL, name: 'Invented Payer' },
  requestedAt: new Date(),
  returnUrl: null,
  channel: { type: 'bank_account', account: '0123456100', bankCode } as const,
});

describe('mandates by Paystack', () => {
  let fake: Awaited<ReturnType<typeof startFake>>;
  let provider: PaymentProvider;

  beforeAll(async () => {
    fake = await startFake();
    const settings = settingsFor(fake.url);
    provider = createPaystackPayments(settings, banksFor(settings));
  });
  afterAll(() => fake.close());

  test.each(['058', '000013'])('a mandate names the bank by Paystack’s code (%s)', async (code) => {
    expect(await provider.setUp?.(mandateAt(code), never)).toMatchObject({ kind: 'page' });
    expect(fake.requests.at(-1)?.body).toMatchObject({ account: { bank_code: '058' } });
  });

  test('a mandate at a bank that Paystack does not have is rejected', async () => {
    const rejected = { kind: 'rejected', code: 'invalid_account', scope: 'request' };
    expect(await provider.setUp?.(mandateAt('999'), never)).toMatchObject(rejected);
  });

  test('a mandate is saved without a charge', async () => {
    const setup = mandateAt('058');
    const page = await provider.setUp?.(setup, never);
    if (page?.kind !== 'page') throw new Error('no page');
    const asked = { reference: setup.reference, handle: page.handle };
    expect(await provider.verifySetup?.(asked, never)).toMatchObject({ kind: 'pending' });
    fake.activateMandate(page.handle ?? '');
    expect(await provider.verifySetup?.(asked, never)).toMatchObject({
      kind: 'saved',
      method: { type: 'bank_account', email: EMAIL, reusable: true },
    });
  });
});
