import { defineCapability } from '../../core/capability.js';
import { transferDirectoryRoutes } from './routes.js';

/** The capability `banks`. */
export const bankCapability = defineCapability({
  name: 'banks',
  routes: transferDirectoryRoutes,
});
