import { z } from 'zod';
import type { Card } from '../../capabilities/cards/record.js';
import { presentCard, presentOperationRow } from '../../capabilities/cards/presenter.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import { anyId, existing, LISTED, printed, printedList, reason, tenantId } from './schema.js';
import { actOf } from './sign-in.js';

const tag = 'Cards';

/** Lists the latest cards. */
export const listCards = operation({
  id: 'listCards',
  tag,
  method: 'get',
  path: '/issued-cards',
  summary: `List the latest ${LISTED} cards`,
  roles: READERS,
  query: z.strictObject({ tenant: tenantId.optional() }),
  answer: { status: 200, data: printedList },
});

/** Shows a card with its operations. */
export const getCard = operation({
  id: 'getCard',
  tag,
  method: 'get',
  path: '/issued-cards/{id}',
  summary: 'Show a card with its operations',
  roles: READERS,
  params: { id: anyId },
  answer: { status: 200, data: z.object({ card: printed, operations: printedList }) },
});

/** Asks the issuer once more for the balance of a closed or expired card. */
export const unloadCard = operation({
  id: 'unloadCard',
  tag,
  method: 'post',
  path: '/issued-cards/{id}/unload',
  summary: 'Take the balance of a closed or expired card back from the issuer once more',
  description:
    'The issuer is asked first what it has taken back of an unloading that needs an operator, and that is booked.',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({ reason }),
  answer: { status: 200, data: printed },
});

const lockOperation = (id: string, act: 'lock' | 'unlock', summary: string) =>
  operation({
    id,
    tag,
    method: 'post',
    path: `/issued-cards/{id}/${act}` as const,
    summary,
    roles: WORKERS,
    params: { id: anyId },
    body: z.strictObject({ reason }),
    answer: {
      status: 200,
      data: z.object({ id: z.string(), done: z.boolean(), status: z.string() }),
    },
  });

/** Sets and lifts the lock that only operators lift. */
export const cardLocks = {
  lock: lockOperation('lockCard', 'lock', 'Lock a card, so that only an operator can unlock it'),
  unlock: lockOperation('unlockCard', 'unlock', "Lift an operator's lock; other locks stay"),
};

/** The routes for cards. Their operations are instructions; see instructions.ts. */
export const cardRoutes = ({ cards, cardStates, cardUnloads }: OperatorDeps): Route[] => [
  route(listCards, async (ctx, { query: { tenant } }) => {
    const of = { ...(tenant !== undefined && { tenantId: tenant }), limit: LISTED };
    sendData(ctx, 200, (await cards.store.latest(of)).map(row));
  }),

  route(getCard, async (ctx, { params }) => {
    const card = await existing(cards.store.find(params.id), 'card');
    const operations = (await cards.operations.ofCard(card, LISTED)).map(presentOperationRow);
    const shown = {
      ...presentCard(card),
      tenant: card.tenant_id,
      available_minor: toWireAmount(card.available_minor),
      held_minor: toWireAmount(card.held_minor),
      open_holds: card.open_holds,
      control: card.state_control,
      unload: card.unload,
      locks: card.locks,
    };
    sendData(ctx, 200, { card: shown, operations });
  }),

  route(unloadCard, async (ctx, { params, body }) => {
    const card = await existing(cards.store.find(params.id), 'card');
    const why = { tenantId: card.tenant_id, reason: body.reason };
    const act = actOf(ctx, 'cards.unload', card._id, why);
    // Tenants read the timeline, but neither who asked nor why.
    const by = { actor: 'operator', reason: 'an operator asked for it', act };
    const obstacle = await cardUnloads.retry(card, by);
    if (obstacle !== null) throw new ApiError('invalid_state', { message: obstacle });
    sendData(ctx, 200, { id: card._id, done: true });
  }),

  ...(['lock', 'unlock'] as const).map((kind) =>
    route(cardLocks[kind], async (ctx, { params, body }) => {
      const card = await existing(cards.store.find(params.id), 'card');
      const why = { tenantId: card.tenant_id, reason: body.reason };
      const act = actOf(ctx, `cards.${kind}`, card._id, why);
      const lock = kind === 'lock' ? { actor: act.actor.name, reason: body.reason } : null;
      const done = await cardStates.setOperatorLock(card, lock, act);
      const { status } = (await cards.store.find(card._id)) ?? card;
      sendData(ctx, 200, { id: card._id, done, status });
    }),
  ),
];

const row = (card: Card) => ({
  id: card._id,
  tenant: card.tenant_id,
  status: card.status,
  funding: card.funding,
  last4: card.issued?.last4 ?? null,
  available_minor: toWireAmount(card.available_minor),
  created_at: card.created_at.toISOString(),
});
