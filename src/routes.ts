import { cardControlRoutes } from './cards/control/routes.js';
import { cardFundingRoutes } from './cards/funding/routes.js';
import { issuingRoutes } from './cards/issuing/routes.js';
import { cardRoutes } from './cards/routes.js';
import { cardAuthorizationRoutes } from './cards/authorizations/routes.js';
import { cardEventRoutes } from './cards/events/routes.js';
import { cardWebhookRoutes } from './cards/webhook-routes.js';
import type { Deps } from './deps.js';
import { createSafeguard } from './http/rate-limit.js';
import type { Route } from './http/routes.js';
import { chargeRoutes } from './payments/charges/routes.js';
import { refundRoutes } from './payments/refunds/routes.js';
import { recurringChargeRoutes } from './payments/recurring/routes.js';
import { tokenRoutes } from './payments/tokens/routes.js';
import { bulkTransferRoutes } from './transfers/bulk-routes.js';
import { transferDirectoryRoutes } from './transfers/directory-routes.js';
import { transferRoutes } from './transfers/routes.js';
import { callbackRoutes } from './webhooks/routes.js';

/** Every route of the API: one for each of the operations in operations.ts, which a test checks. */
export const allRoutes = (deps: Deps): Route[] => [
  ...transferRoutes(deps),
  ...bulkTransferRoutes(deps),
  ...transferDirectoryRoutes(deps),
  ...cardRoutes(deps),
  ...tokenRoutes(deps),
  ...chargeRoutes(deps),
  ...refundRoutes(deps),
  ...recurringChargeRoutes(deps),
  ...cardFundingRoutes({ ...deps, safeguard: createSafeguard(deps) }),
  ...issuingRoutes(deps),
  ...cardControlRoutes(deps),
  ...cardAuthorizationRoutes(deps),
  ...callbackRoutes(deps),
  ...cardWebhookRoutes(deps),
  ...cardEventRoutes({ ...deps, safeguard: createSafeguard(deps) }),
];
