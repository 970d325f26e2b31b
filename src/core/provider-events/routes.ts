import { ApiError } from '../../shared/errors.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { presentEnded, withIdempotency } from '../idempotency/with-idempotency.js';
import type { AuthorizationDecision, AuthorizationRequest } from '../providers/card-issuer.js';
import type { Port, Providers } from '../providers/registry.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import type { createSafeguard } from '../../platform/http/rate-limit.js';
import { sendBytes, sendData, sendList } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../idempotency/store.js';
import {
  getCardEventReplay,
  listCardEvents,
  receiveCardEvent,
  receivePaymentCallback,
  replayCardEvent,
} from './api.js';
import type { ProviderEvents } from './index.js';
import { maskMessage } from './message.js';
import { presentCardEvent, presentReplay } from './presenter.js';

type ReceiveDeps = {
  providers: Pick<Providers, 'messageReader' | 'findIssuer'>;
  providerEvents: Pick<ProviderEvents, 'receive'>;
  /** Decides real-time authorization requests, which are no events: the answer carries the decision. */
  cardAuthorizations: {
    decisions: {
      decide(issuer: string, request: AuthorizationRequest): Promise<AuthorizationDecision>;
    };
  };
};

type CardEventDeps = {
  cards: { store: { get(tenantId: string, id: string): Promise<object | null> } };
  providerEvents: ProviderEvents;
  idempotency: Idempotency;
  safeguard: ReturnType<typeof createSafeguard>;
};

/** The routes of providers, and those that list and replay the events of a tenant's cards. */
export const providerEventRoutes = (deps: ReceiveDeps & CardEventDeps): Route[] => [
  ...receiveRoutes(deps),
  ...cardEventRoutes(deps),
];

/**
 * The routes for messages of providers. The signature over the raw bytes authenticates them. A message is stored before it
 * is answered, and applied afterwards, because the provider waits for a receipt and not for our ledger; if it cannot be
 * stored, the answer is 503 and the provider sends it again.
 */
function receiveRoutes(deps: ReceiveDeps): Route[] {
  const { providers, providerEvents, cardAuthorizations } = deps;

  /** Several ports of a provider may share an address: each is asked in sequence. */
  async function receive(ctx: Context, provider: string, ports: readonly Port[]): Promise<void> {
    const raw = ctx.state.body?.bytes ?? Buffer.alloc(0);
    let known = false;
    for (const [i, port] of ports.entries()) {
      const reader = providers.messageReader(port, provider);
      if (!reader) continue;
      known = true;
      const read = reader.readMessage(raw, headersOf(ctx), new Date());
      if (read.kind === 'bad_signature') throw new ApiError('invalid_signature');
      if (read.kind === 'authorization') return decide(ctx, provider, read.request);
      const hasNext = ports.slice(i + 1).some((next) => providers.messageReader(next, provider));
      if (read.kind === 'other_port' && hasNext) continue;
      const reading = read.kind === 'other_port' ? { ...read, kind: 'unreadable' as const } : read;
      const message = maskMessage(raw, reader.safeFields);
      const received = await providerEvents.receive(provider, { port, reading, message });
      ctx.res.once('finish', () => received.after());
      const reply = 'reply' in reading ? reading.reply : undefined;
      if (reply) return sendBytes(ctx, reply.status, JSON.stringify(reply.body));
      return sendData(ctx, 200, { received: true });
    }
    // The same answer as to a wrong signature, so that nobody learns which providers there are.
    if (!known) throw new ApiError('invalid_signature');
  }

  async function decide(ctx: Context, name: string, request: AuthorizationRequest): Promise<void> {
    const issuer = providers.findIssuer(name);
    if (!issuer) throw new ApiError('not_found');
    const decision = await cardAuthorizations.decisions.decide(name, request);
    const { status, headers = {}, body } = issuer.renderDecision(request, decision);
    ctx.set(headers);
    sendBytes(ctx, status, JSON.stringify(body));
  }

  return [
    route(receivePaymentCallback, (ctx, { params }) =>
      receive(ctx, params.provider, ['transfers', 'payments', 'identity', 'bills', 'accounts']),
    ),
    route(receiveCardEvent, (ctx, { params }) => receive(ctx, params.provider, ['cards'])),
  ];
}

const headersOf = (ctx: Context) =>
  Object.fromEntries(
    Object.entries(ctx.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value[0] : value,
    ]),
  );

function cardEventRoutes(deps: CardEventDeps): Route[] {
  const { cards, providerEvents, idempotency, safeguard } = deps;
  const { store, replays, replayWatch } = providerEvents;

  return [
    route(listCardEvents, async (ctx, { params, query }) => {
      await safeguard(ctx, 'card_events');
      const tenantId = callerOf(ctx).tenant.id;
      await ownRecord(ctx, cards.store, params.card_id);
      const { items, total } = await store.list({ tenantId, card: params.card_id }, query);
      const { page, limit } = query;
      sendList(ctx, items.map(presentCardEvent), { page, limit, total });
    }),

    route(replayCardEvent, async (ctx, { params }) => {
      const tenantId = callerOf(ctx).tenant.id;
      const path = `${API_PREFIX}/webhooks/cards/events/${params.event_id}`;
      await withIdempotency(
        ctx,
        { idempotency, resource: `${path}/replays`, path: `${path}/replay` },
        async (claim) => providerEvents.replay(await ownRecord(ctx, store, params.event_id), claim),
        presentEnded({ waiter: replayWatch, store: replays, tenantId }, presentReplay),
      );
    }),

    route(getCardEventReplay, async (ctx, { params }) => {
      const replay = await ownRecord(ctx, replays, params.id);
      if (replay.event_id !== params.event_id) throw new ApiError('not_found');
      sendData(ctx, 200, presentReplay(replay));
    }),
  ];
}
