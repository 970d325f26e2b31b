import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability } from '../../core/capability.js';
import { creditWallet } from './create.js';
import { applyCredit } from './mutations.js';

/** The capability `wallets`: credits from outside. Their records and postings belong to the ledger. */
export const walletCapability = defineCapability({
  name: 'wallets',
  mutations: forwardable({ applyCredit }),
  create: ({ groupCommit }) => ({
    credit: (given: Parameters<typeof creditWallet>[1]) => creditWallet(groupCommit, given),
  }),
});
