import { defineCapability } from '../../core/capability.js';
import { tokenOperations } from './api.js';
import { paymentTokens } from './payment-token.js';
import { tokenRoutes } from './routes.js';

/** The capability `payment-tokens`. */
export const paymentTokenCapability = defineCapability({
  name: 'payment-tokens',
  collections: [paymentTokens],
  operations: tokenOperations,
  routes: tokenRoutes,
});
