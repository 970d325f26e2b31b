import { defineCapability, type CoreDeps } from '../../core/capability.js';
import type { TransferProvider } from '../../core/providers/transfer-provider.js';
import { bankOperations } from './api.js';
import {
  createBankList,
  createEnquiryLimit,
  createNameEnquiry,
  createUnnamed,
} from './provider-calls.js';
import { transferDirectoryRoutes } from './routes.js';

export {
  eitherRecipient,
  exampleRecipient,
  recipient,
  recipientFields,
  recipientOf,
  withRecipient,
} from './schema.js';
export type { AccountName } from './provider-calls.js';

/** The parts of banks: the name enquiry with its limit, and the list of banks. */
export type BankParts = ReturnType<typeof createBankParts>;

function createBankParts({ config, providers, rateLimits }: CoreDeps) {
  const provider: Pick<TransferProvider, 'resolveAccount' | 'listBanks'> = {
    resolveAccount: (account, signal) => providers.forTransfers().resolveAccount(account, signal),
    listBanks: (signal) => providers.forTransfers().listBanks(signal),
  };
  const list = createBankList(provider);
  const { nameEnquiryTimeoutMs: timeoutMs } = config.transfers;
  return {
    nameEnquiry: createNameEnquiry(provider, timeoutMs, list),
    unnamed: createUnnamed(timeoutMs, list),
    enquiryLimit: createEnquiryLimit(rateLimits),
    list,
  };
}

/** The capability `banks`: the banks that transfers can go to, and the holders of accounts there. */
export const bankCapability = defineCapability({
  name: 'banks',
  servedBy: 'transfers',
  operations: bankOperations,
  create: createBankParts,
  routes: transferDirectoryRoutes,
});
