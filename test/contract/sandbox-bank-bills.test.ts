import { createSandboxBankBills } from '../../src/core/providers/sandbox-bank/bill-adapter.js';
import {
  readBillMessage,
  readStoredBillMessage,
} from '../../src/core/providers/sandbox-bank/bill-events.js';
import { maskMessage } from '../../src/core/provider-events/message.js';
import { startSandboxBank } from '../../sandbox-bank/server.js';
import {
  optionsAt,
  removeFolder,
  SECRET,
  startReceiver,
  temporaryFolder,
} from '../sandbox-bank/support.js';
import { describeBillProvider } from './bill-provider.js';

const customer = (suffix: string, item = 'harbour-postpaid') => ({
  billerId: 'harbour-electric',
  itemId: item,
  customerReference: `4503061${suffix}`,
});

const providerAt = (url: string, deduplicates = true) =>
  createSandboxBankBills(optionsAt(url, deduplicates));

for (const deduplicate of [true, false]) {
  describeBillProvider(`sandbox-bank, de-duplication ${deduplicate}`, async () => {
    const folder = temporaryFolder();
    const receiver = await startReceiver();
    const bank = await startSandboxBank({
      dataDir: folder,
      secret: SECRET,
      deduplicate,
      conclusiveAfterMs: 1_000,
      callbackUrl: receiver.url,
    });
    return {
      provider: providerAt(bank.url, deduplicate),
      unreachable: providerAt('http://127.0.0.1:1', deduplicate),
      customers: {
        paid: customer('789'),
        paidWithToken: customer('789', 'harbour-prepaid'),
        refused: customer('002'),
        paidLaterByCallback: customer('001'),
        paidWithoutAnswer: customer('004'),
        lostWithoutAnswer: customer('005'),
        throttledFirst: customer('010'),
        unknownCustomer: customer('003'),
        validationWithoutAnswer: customer('011'),
      },
      amountMinor: 500_000n,
      refusalCode: 'provider_declined',
      async callbackAbout(reference) {
        const [callback] = await receiver.wait(reference, 1);
        if (!callback) throw new Error('no callback');
        return callback;
      },
      async close() {
        await bank.close();
        await receiver.close();
        removeFolder(folder);
      },
    };
  });
}

describe('messages of the billers', () => {
  const message = {
    id: 'evt_1',
    event: 'bill.paid',
    occurred_at: '2026-11-20T09:00:00.000Z',
    data: {
      reference: 'bil_1',
      status: 'paid',
      amount_minor: 100,
      currency: 'NGN',
      receipt: { token: '1234-5678-9012-3456-7890', units: '73.0 kWh' },
      code: null,
    },
  };
  const hash = () => 'a hash';

  test('the masked copy of a message has no token, and is read as a payment without a receipt', async () => {
    const { safeFields } = providerAt('http://127.0.0.1:1');
    const masked = maskMessage(Buffer.from(JSON.stringify(message)), safeFields);
    expect(JSON.stringify(masked)).not.toContain('1234-5678');
    const state = { kind: 'succeeded', amountMinor: 100n };
    expect(readBillMessage(message, hash)).toMatchObject({
      event: { state: { ...state, receipt: message.data.receipt } },
    });
    expect(readStoredBillMessage(masked)).toMatchObject({
      event: { dedupeKey: 'evt_1', reference: 'bil_1', state: { ...state, receipt: null } },
    });
  });

  test.each(['transfer.paid', 'charge.paid', 'refund.refunded'])(
    'an authentic event of another port (%s) is left to it',
    (event) => {
      const other = readBillMessage({ ...message, event }, hash);
      expect(other).toEqual({ kind: 'other_port', dedupeKey: 'evt_1', name: event });
    },
  );

  test('an event whose data has another status is unreadable', () => {
    const event = 'bill.reversed';
    expect(readBillMessage({ ...message, event }, hash)).toMatchObject({ kind: 'unreadable' });
  });
});
