import { forwardable } from '../../core/commit/mutation.js';
import { defineCapability } from '../../core/capability.js';
import { walletOperations } from './api.js';
import { creditWallet } from './create.js';
import { applyCredit } from './mutations.js';
import { walletRoutes } from './routes.js';
import { createWallets } from './store.js';

/** The capability `wallets`: balance, statement, and credits from outside. Records and postings belong to the ledger. */
export const walletCapability = defineCapability({
  name: 'wallets',
  operations: walletOperations,
  routes: walletRoutes,
  mutations: forwardable({ applyCredit }),
  create: ({ groupCommit, database }) => ({
    store: createWallets(database),
    credit: (given: Parameters<typeof creditWallet>[1]) => creditWallet(groupCommit, given),
  }),
});
