import { ApiError } from '../../shared/errors.js';
import type { Context } from '../../platform/http/context.js';
import { sendBytes, sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Log } from '../../shared/log.js';
import type { Providers } from '../../core/providers/registry.js';
import { receiveCardEvent } from '../../core/provider-events/callback-api.js';
import type { CardAuthorizationParts } from '../card-authorizations/index.js';
import type { ReceiveProviderEvent } from '../../core/provider-events/receive.js';

/**
 * The route for messages of card issuers. The signature over the raw bytes authenticates them. An event is stored before it
 * is answered, and applied afterwards; if it cannot be stored, the answer is 503 and the issuer sends it again. The answer to
 * an authorization request has the decision.
 */
export function cardWebhookRoutes({
  providers,
  authorizations,
  providerEvents,
  log,
}: {
  providers: Pick<Providers, 'findIssuer'>;
  authorizations: Pick<CardAuthorizationParts, 'decisions'>;
  providerEvents: { receive: ReceiveProviderEvent };
  log: Log;
}): Route[] {
  return [
    route(receiveCardEvent, async (ctx, { params }) => {
      const issuer = providers.findIssuer(params.provider);
      if (!issuer) throw new ApiError('not_found');
      const bytes = ctx.state.body?.bytes ?? Buffer.alloc(0);
      const message = issuer.readEvent(bytes, headersOf(ctx), new Date());
      switch (message.kind) {
        case 'bad_signature':
          throw new ApiError('invalid_signature');
        case 'authorization': {
          const decision = await authorizations.decisions.decide(issuer.name, message.request);
          const { status, body } = issuer.renderDecision(decision);
          return sendBytes(ctx, status, JSON.stringify(body));
        }
        case 'event': {
          const received = await providerEvents.receive(issuer.name, message.event);
          ctx.res.once('finish', () => received.after());
          return sendData(ctx, 200, { received: true });
        }
        case 'ignored':
          // The issuer would only repeat an unreadable event, so it is accepted. The log tells operators.
          log.warn(
            { provider: issuer.name, event: message.dedupeKey },
            'provider event unreadable',
          );
          return sendData(ctx, 200, { received: true });
      }
    }),
  ];
}

const headersOf = (ctx: Context) =>
  Object.fromEntries(
    Object.entries(ctx.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value[0] : value,
    ]),
  );
