import {
  acquirerEffects,
  activeToken,
  chargeBody,
  paymentClient,
  type PaymentClient,
} from '../support/payments.js';
import { startService, type Service } from '../support/service.js';

let service: Service;
let payments: PaymentClient;
let tenantId: string;
let paymentTokenId: string;

beforeAll(async () => {
  service = await startService({
    env: {
      SANDBOX_BANK_RESEND_SAFETY: 'fence',
      SANDBOX_BANK_PREPARE: 'true',
      SANDBOX_BANK_TIMEOUT_MS: '1000',
    },
  });
  const tenant = await service.tenant({ balanceMinor: 0 });
  tenantId = tenant.id;
  payments = paymentClient(tenant);
  paymentTokenId = (await activeToken(payments)).token.payment_token_id;
});
afterAll(() => service?.close());
afterEach(() => service?.bank.faults([]));

/** Charges the saved method. The ending of the reference selects what the bank does. */
async function charge(ending: string): Promise<string> {
  const { customer: _, ...body } = chargeBody(ending, { capture_mode: 'merchant_initiated' });
  await payments.charge({ ...body, payment_token_id: paymentTokenId });
  return body.reference;
}
const kinds = async (reference: string) =>
  (await acquirerEffects(service, reference)).map(({ kind }) => kind);
const stored = (reference: string) => service.deps.charges.store.byReference(tenantId, reference);

describe('charges of saved methods at a bank that prepares them and has a fence', () => {
  test('005: what the bank does not know is cancelled there, and the charge fails', async () => {
    const reference = await charge('005');
    const { failure } = await payments.waitFor(reference, 'failed');
    expect(failure?.code).toBe('not_executed');
    expect(await kinds(reference)).toEqual([]);
    expect(await stored(reference)).toMatchObject({ submissions: 1, attention: null });
  });

  test('the answer to the cancellation is lost: it is cancelled again', async () => {
    await service.bank.faults([{ call: 'cancel', kind: 'drop_after', probability: 0.7 }]);
    const reference = await charge('005');
    const { failure } = await payments.waitFor(reference, 'failed');
    expect(failure?.code).toBe('not_executed');
    expect(await kinds(reference)).toEqual([]);
  });

  test('004: a payment without an answer is found, and charged once', async () => {
    const reference = await charge('004');
    await payments.waitFor(reference, 'completed');
    expect(await kinds(reference)).toEqual(['charged']);
  });

  test('the record keeps the handle of its preparation, and the bank is sent it', async () => {
    const reference = await charge('789');
    await payments.waitFor(reference, 'completed');
    expect((await stored(reference))?.handle).toMatch(/^prp_/);
    expect(await kinds(reference)).toEqual(['charged']);
  });

  test('afterwards the ledger balances and agrees with the bank', async () => {
    expect(await service.problems()).toEqual([]);
  });
});
