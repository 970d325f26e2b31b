import Koa from 'koa';
import { clientAddress } from '../../platform/http/client-address.js';
import type { AppState, Middleware } from '../../platform/http/context.js';
import { documents } from '../../platform/http/documents.js';
import { errorHandler } from '../../platform/http/error-handler.js';
import type { Health } from '../../platform/http/health.js';
import { answerOptions, notFound } from '../../platform/http/not-found.js';
import { openApiDocument, OPERATOR_API } from '../../platform/http/openapi.js';
import { OPERATOR_PREFIX } from '../../platform/http/operation.js';
import { limitBySource } from '../../platform/http/rate-limit.js';
import { requestId } from '../../platform/http/request-id.js';
import { requestLog } from '../../platform/http/request-log.js';
import { routerOf } from '../../platform/http/routes.js';
import { securityHeaders } from '../../platform/http/security-headers.js';
import { measureOperatorErrors } from '../../platform/metrics/requests.js';
import { consolePage } from '../console/page.js';
import type { OperatorDeps } from './deps.js';
import { operatorRoutes } from './routes.js';
import { LISTED } from './schema.js';
import { signIn } from './sign-in.js';

/** Limit of one address: far above what people and their scripts need, and low enough to protect the service. */
const ALLOWANCE = { rate: 6_000, burst: 9_000 };

/** The OpenAPI document of the operator API. */
export const operatorOpenApi = (deps: OperatorDeps): object =>
  openApiDocument(
    operatorRoutes(deps).map(({ operation }) => operation),
    [],
    {
      title: 'Bursar operator API',
      version: '1',
      description: 'Acts of operators. Every act has an entry in the audit log.',
    },
    OPERATOR_API,
  );

/** Creates the application of the operator API: every middleware that a request passes, outermost first. */
export function createOperatorApp(
  deps: OperatorDeps,
  health: Pick<Health, 'middleware'>,
): Koa<AppState> {
  const { log, operators, oidc, rateLimits, config, registry } = deps;
  // A client may take its time for the body: a sign-in that is revoked meanwhile must not carry the act out.
  const signInAgain: Middleware = (ctx, next) => signedIn(ctx, next);
  const { middleware, operationAt, methodsAt } = routerOf(
    operatorRoutes(deps),
    [],
    OPERATOR_PREFIX,
    [signInAgain],
  );
  const signedIn = signIn({ operators, oidc, audit: deps.audit, operationAt });
  const app = new Koa<AppState>();
  app.use(requestId());
  app.use(clientAddress({ trustedProxies: config.http.trustedProxies }));
  app.use(requestLog({ log }));
  app.use(measureOperatorErrors(registry));
  app.use(securityHeaders());
  app.use(errorHandler({ log }));
  app.use(health.middleware);
  app.use(limitBySource({ rateLimits, name: 'operators', allowance: ALLOWANCE }));
  app.use(
    documents({
      openApi: JSON.stringify(operatorOpenApi(deps)),
      prefix: OPERATOR_PREFIX,
      hasDocs: false,
    }),
  );
  app.use(consolePage({ environment: config.environment, listed: LISTED }));
  app.use(answerOptions({ methodsAt }));
  app.use(underPrefix(signedIn));
  app.use(underPrefix(middleware));
  app.use(notFound({ methodsAt }));
  app.on('error', (error: unknown) => log.warn({ err: error }, 'could not send the answer'));
  return app;
}

/** The router has the same test as the sign-in, so no spelling of a path reaches a route without it. */
function underPrefix(middleware: Middleware): Middleware {
  return (ctx, next) =>
    /^\/operator\/v1(?:\/|$)/i.test(ctx.path) ? middleware(ctx, next) : next();
}
