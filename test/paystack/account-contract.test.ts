import type { AccountProvider } from '../../src/core/providers/account-provider.js';
import { createPaystackAccounts } from '../../src/core/providers/paystack/account-adapter.js';
import { describeAccountProvider } from '../contract/account-provider.js';
import { eventually } from '../support/eventually.js';
import { banksFor, CUSTOMER_DOMAIN, settingsFor, startFakeWithReceiver } from './support.js';

/** Below the time limit of a contract's harness, and enough for a slow machine. */
const TIMEOUT_MS = 1_000;

function adapterFor(url: string): AccountProvider {
  const settings = { ...settingsFor(url, TIMEOUT_MS), customerDomain: CUSTOMER_DOMAIN };
  return createPaystackAccounts(settings, banksFor(settings));
}

const SILENT = 'customer-004';

type Fake = Awaited<ReturnType<typeof startFakeWithReceiver>>['fake'];

/** The adapter, which sends a phone number that selects what the fake does: it ends as the customer's id does. */
function steered(adapter: AccountProvider, fake: Fake): AccountProvider {
  return {
    ...adapter,
    assign(request, signal) {
      const { holder } = request;
      if (holder.id === SILENT) fake.plan('assign', 'hang_after');
      const phone = `+2348012345${holder.id.slice(-3)}`;
      return adapter.assign({ ...request, holder: { ...holder, phone } }, signal);
    },
  };
}

describeAccountProvider('paystack', async () => {
  const started = await startFakeWithReceiver();
  const { fake, receiver } = started;
  return {
    provider: steered(adapterFor(fake.url), fake),
    unreachable: adapterFor('http://127.0.0.1:1'),
    customers: {
      assigned: 'customer-678',
      refused: 'customer-002',
      withoutAnswer: SILENT,
      later: 'customer-001',
    },
    ways: { refusals: 'message', returns: 'later' },
    messageWith: (text) =>
      eventually('the message arrives', () =>
        receiver.received.find(({ raw }) => raw.toString().includes(text)),
      ),
    // The amount selects whether a return is refused.
    senders: { told: 'Ada Obi', reversed: 'Ada Obi', returnRefused: 'Ada Obi' },
    pay: async (accountNumber, amount, sender) => fake.deposit(accountNumber, amount, { sender }),
    reverse: async (deposit) => void fake.setTransaction(deposit, 'reversed'),
    close: () => started.close(),
  };
});
