import { capabilities, type CapabilityDeps } from './capabilities.js';
import { createSafeguard } from '../platform/http/rate-limit.js';
import type { Route } from '../platform/http/routes.js';
import type { Deps } from './deps.js';

/** Every route of the API, one for each operation in operations.ts; a test compares them. */
export function allRoutes(deps: Deps): Route[] {
  const all: CapabilityDeps = { ...deps, safeguard: createSafeguard(deps) };
  return capabilities.flatMap(({ routes, servedBy }) =>
    (routes?.(all) ?? []).map(({ operation, handle }) => ({
      operation: { ...operation, ...(servedBy && { servedBy }) },
      handle,
    })),
  );
}
