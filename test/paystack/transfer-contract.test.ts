import { createPaystackTransfers } from '../../src/core/providers/paystack/transfer-adapter.js';
import type { TransferProvider } from '../../src/core/providers/transfer-provider.js';
import { describeTransferProvider } from '../contract/transfer-provider.js';
import { eventually } from '../support/eventually.js';
import { banksFor, settingsFor, startFakeWithReceiver } from './support.js';

/** Below the time limit of a contract's harness, and enough for a slow machine. */
const TIMEOUT_MS = 1_000;

function adapterFor(url: string) {
  const settings = settingsFor(url, TIMEOUT_MS);
  return createPaystackTransfers(settings, banksFor(settings));
}

type Fake = Awaited<ReturnType<typeof startFakeWithReceiver>>['fake'];

const recipient = (digits: string) => ({ account: `0123456${digits}`, bankCode: '058' });
const SILENT = recipient('204');
const THROTTLED = recipient('210');
const SILENT_ENQUIRY = recipient('211');

/** The adapter, for whose next call the fake gets the fault that the recipient stands for. */
function steered(adapter: TransferProvider, fake: Fake): TransferProvider {
  const throttled = new Set<string>();
  return {
    ...adapter,
    submit(order, signal) {
      const { account } = order.recipient;
      if (account === SILENT.account) fake.plan('submit', 'hang_after');
      if (account === THROTTLED.account && !throttled.has(order.reference)) {
        throttled.add(order.reference);
        fake.plan('submit', 'throttle_seconds');
      }
      return adapter.submit(order, signal);
    },
    resolveAccount(asked, signal) {
      if (asked.account === SILENT_ENQUIRY.account) fake.plan('resolve', 'hang');
      return adapter.resolveAccount(asked, signal);
    },
  };
}

describeTransferProvider('paystack', async () => {
  const started = await startFakeWithReceiver();
  const { fake, receiver } = started;
  return {
    provider: steered(adapterFor(fake.url), fake),
    unreachable: adapterFor('http://127.0.0.1:1'),
    recipients: {
      paid: recipient('100'),
      refused: recipient('002'),
      paidLaterByCallback: recipient('101'),
      paidWithoutAnswer: SILENT,
      lostWithoutAnswer: recipient('005'),
      throttledFirst: THROTTLED,
      unknownAccount: recipient('003'),
      enquiryWithoutAnswer: SILENT_ENQUIRY,
    },
    refusalCode: 'provider_declined',
    ways: {
      outcomes: 'later',
      feeMinor: 1_000n,
      sessionId: /^\d{17,30}$/,
      repeats: 'conflict',
    },
    setBalance: async (amountMinor) => fake.topUp(Number(amountMinor) - fake.balance()),
    callbackAbout: (reference) =>
      eventually('the message arrives', () =>
        receiver.received.find(({ raw }) => raw.includes(`"${reference}"`)),
      ),
    close: () => started.close(),
  };
});
