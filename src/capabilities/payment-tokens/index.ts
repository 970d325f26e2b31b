import { defineCapability, type CoreDeps } from '../../core/capability.js';
import { tokenOperations } from './api.js';
import { createTokenCreation } from './create.js';
import { paymentTokens } from './payment-token.js';
import { tokenRoutes } from './routes.js';
import { createTokens } from './store.js';

export { ALWAYS, customerBody, customerOf } from './schema.js';
export type { Tokens } from './store.js';

/** The parts of payment tokens. */
export type PaymentTokenParts = ReturnType<typeof createPaymentTokenParts>;

function createPaymentTokenParts({ database, groupCommit, providers }: CoreDeps) {
  const store = createTokens(database, groupCommit);
  const provider = () => providers.forPayments().name;
  return { store, create: createTokenCreation({ tokens: store, provider }) };
}

/** The capability `payment-tokens`: cards and bank accounts that customers have left for later charges. */
export const paymentTokenCapability = defineCapability({
  name: 'payment-tokens',
  servedBy: 'payments',
  collections: [paymentTokens],
  operations: tokenOperations,
  create: createPaymentTokenParts,
  routes: tokenRoutes,
});
