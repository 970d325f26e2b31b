import { ApiError } from '../errors.js';
import type { Feature } from '../tenants/tenant.js';
import { callerOf, type Middleware } from './context.js';

/** In a route's sentence, before anything of the body is read: only for tenants that have the feature. */
export function requireFeature(feature: Feature): Middleware {
  return (ctx, next) => {
    if (!callerOf(ctx).tenant.features[feature]) throw new ApiError('feature_not_enabled');
    return next();
  };
}
