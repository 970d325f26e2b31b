import { startSandboxBank } from '../../sandbox-bank/server.js';
import { createSandboxBankAccounts } from '../../src/core/providers/sandbox-bank/account-adapter.js';
import { removeFolder, SECRET, startReceiver, temporaryFolder } from '../sandbox-bank/support.js';
import { bankAudit } from '../support/bank.js';
import { eventually } from '../support/eventually.js';
import { describeAccountProvider } from './account-provider.js';

const accountsAt = (url: string) =>
  createSandboxBankAccounts({
    url,
    secret: SECRET,
    deduplicates: true,
    deduplicatesForMs: null,
    conclusiveAfterMs: 1_000,
    timeoutMs: 1_500,
    callsPerSecond: 100,
  });

describeAccountProvider('sandbox-bank', async () => {
  const folder = temporaryFolder();
  const service = await startReceiver();
  const bank = await startSandboxBank({
    dataDir: folder,
    secret: SECRET,
    conclusiveAfterMs: 1_000,
    callbackUrl: service.url,
  });
  const audit = bankAudit(bank.url);
  return {
    provider: accountsAt(bank.url),
    unreachable: accountsAt('http://127.0.0.1:1'),
    customers: {
      assigned: 'customer-789',
      refused: 'customer-002',
      withoutAnswer: 'customer-004',
      later: 'customer-001',
    },
    ways: { refusals: 'answer', returns: 'at_once' },
    messageWith: (text) =>
      eventually('the message arrives', () =>
        service.received.find(({ raw }) => raw.toString().includes(text)),
      ),
    senders: { told: 'Ada Obi', reversed: 'Ada 006', returnRefused: 'Ada 012' },
    pay: (accountNumber, amount_minor, sender_name) =>
      audit.deposit(accountNumber, { amount_minor, sender_name }),
    reverse: async (deposit) => void (await audit.reverseDeposit(deposit)),
    async close() {
      await bank.close();
      await service.close();
      removeFolder(folder);
    },
  };
});
