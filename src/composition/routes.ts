import { cardControlRoutes } from '../capabilities/card-states/routes.js';
import { cardFundingRoutes } from '../capabilities/card-fundings/routes.js';
import { issuingRoutes } from '../capabilities/cards/issuance-routes.js';
import { cardRoutes } from '../capabilities/cards/routes.js';
import { cardAuthorizationRoutes } from '../capabilities/card-authorizations/routes.js';
import { cardEventRoutes } from '../core/provider-events/routes.js';
import { cardWebhookRoutes } from '../capabilities/cards/webhook-routes.js';
import type { Deps } from './deps.js';
import { createSafeguard } from '../platform/http/rate-limit.js';
import type { Route } from '../platform/http/routes.js';
import { chargeRoutes } from '../capabilities/charges/routes.js';
import { refundRoutes } from '../capabilities/refunds/routes.js';
import { recurringChargeRoutes } from '../capabilities/recurring-charges/routes.js';
import { tokenRoutes } from '../capabilities/payment-tokens/routes.js';
import { bulkTransferRoutes } from '../capabilities/bulk-transfers/routes.js';
import { transferDirectoryRoutes } from '../capabilities/banks/routes.js';
import { transferRoutes } from '../capabilities/transfers/routes.js';
import { callbackRoutes } from '../core/provider-events/callback-routes.js';

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
