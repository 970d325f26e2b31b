import { defineCapability } from '../../core/capability.js';
import { bankOperations } from './api.js';
import { transferDirectoryRoutes } from './routes.js';

/** The capability `banks`. */
export const bankCapability = defineCapability({
  name: 'banks',
  operations: bankOperations,
  routes: transferDirectoryRoutes,
});
