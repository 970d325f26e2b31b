import { defineCapability, type CoreDeps } from '../../core/capability.js';
import type { TransferProvider } from '../../core/providers/transfer-provider.js';
import { bankOperations } from './api.js';
import { createBankList, createNameEnquiry } from './provider-calls.js';
import { transferDirectoryRoutes } from './routes.js';

export {
  eitherRecipient,
  exampleRecipient,
  recipient,
  recipientFields,
  recipientOf,
  withRecipient,
} from './schema.js';
export { enquiryLimitOf, NO_ENQUIRY_LIMIT, type EnquiryLimit } from './provider-calls.js';
export type { AccountName, NameEnquiry } from './provider-calls.js';

/** The parts of banks: the name enquiry, and the list of banks. */
export type BankParts = ReturnType<typeof createBankParts>;

function createBankParts({ config, providers }: CoreDeps) {
  const provider: Pick<TransferProvider, 'resolveAccount' | 'listBanks'> = {
    resolveAccount: (account, signal) => providers.forTransfers().resolveAccount(account, signal),
    listBanks: (signal) => providers.forTransfers().listBanks(signal),
  };
  const list = createBankList(provider);
  return {
    nameEnquiry: createNameEnquiry(provider, config.transfers.nameEnquiryTimeoutMs, list),
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
