import { capabilities, type CapabilityDeps } from '../capabilities.js';
import { cardWebhookRoutes } from '../capabilities/cards/webhook-routes.js';
import { createSafeguard } from '../platform/http/rate-limit.js';
import type { Route } from '../platform/http/routes.js';
import type { Deps } from './deps.js';

/** Every route of the API: one for each of the operations in operations.ts, which a test checks. */
export function allRoutes(deps: Deps): Route[] {
  const all: CapabilityDeps = { ...deps, safeguard: createSafeguard(deps) };
  const routes = capabilities.flatMap((capability) => capability.routes?.(all) ?? []);
  return [...routes, ...cardWebhookRoutes(deps)];
}
