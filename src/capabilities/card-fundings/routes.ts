import { setAutoReload, commitFundingExpiry } from './mutations.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import {
  presentEnded,
  withIdempotency,
  type Present,
} from '../../core/idempotency/with-idempotency.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import type { createSafeguard } from '../../platform/http/rate-limit.js';
import { sendData } from '../../platform/http/respond.js';
import { ownRecord } from '../../platform/http/own-record.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import { autoReloadSettings, presentOperation, type CardParts } from '../cards/index.js';
import { fundCard, getCardAutoReload, jitFundCard, putCardAutoReload } from './api.js';
import type { FundCard } from './create.js';
import { presentAutoReload } from './presenter.js';
import type { FundBody } from './schema.js';

type Deps = {
  config: { cards: { jitDeadlineMs: number } };
  cards: Pick<CardParts, 'store' | 'operations' | 'operationWaiter'>;
  cardFundings: { fund: FundCard };
  groupCommit: GroupCommit;
  idempotency: Idempotency;
  safeguard: ReturnType<typeof createSafeguard>;
};

/** The routes that fund a card and set its auto-reload. */
export function cardFundingRoutes(deps: Deps): Route[] {
  const { cards, groupCommit, safeguard } = deps;

  async function fund(ctx: Context, id: string, body: FundBody, jitDeadlineMs: number | null) {
    const arrivedAt = Date.now();
    const { tenant } = callerOf(ctx);
    const card = await ownRecord(ctx, cards.store, id);
    await safeguard(ctx, 'card_fund', card._id);
    const at = `${API_PREFIX}/cards/${card._id}`;
    const jit = jitDeadlineMs !== null;
    const deadlineAt = jit ? new Date(arrivedAt + jitDeadlineMs) : null;
    await withIdempotency(
      ctx,
      {
        idempotency: deps.idempotency,
        resource: `${at}/operations`,
        path: `${at}/${jit ? 'jit-fund' : 'fund'}`,
        ...(jit && { waitMs: jitDeadlineMs }),
      },
      (claim) => deps.cardFundings.fund({ tenant, card, body, claim, deadlineAt }),
      jit
        ? presentByDeadline(deps, tenant.id)
        : presentEnded(
            { waiter: cards.operationWaiter, store: cards.operations, tenantId: tenant.id },
            presentOperation,
          ),
    );
  }

  return [
    route(fundCard, (ctx, { params, body }) => fund(ctx, params.card_id, body, null)),

    route(jitFundCard, (ctx, { params, body }) =>
      fund(ctx, params.card_id, body, deps.config.cards.jitDeadlineMs),
    ),

    route(getCardAutoReload, async (ctx, { params }) => {
      const card = await ownRecord(ctx, cards.store, params.card_id);
      sendData(ctx, 200, presentAutoReload(card, new Date()));
    }),

    route(putCardAutoReload, async (ctx, { params, body }) => {
      const { tenant } = callerOf(ctx);
      const settings = autoReloadSettings(tenant, body);
      const outcome = await groupCommit.commit(setAutoReload, {
        tenantId: tenant.id,
        id: params.card_id,
        settings,
      });
      if (outcome.kind === 'refused') throw outcome.error;
      sendData(ctx, 200, presentAutoReload(outcome.card, new Date()));
    }),
  ];
}

/** Timers may fire early by this much, and a funding does not expire before its deadline. */
const EARLY_TIMER_MS = 5;

/** Waits until the deadline at most. Then the funding is expired here, even if its workflow does not run. */
const presentByDeadline =
  (deps: Deps, tenantId: string): Present =>
  async (id, { signal }) => {
    const { groupCommit } = deps;
    const { operations, operationWaiter } = deps.cards;
    const operation = await operations.get(tenantId, id);
    if (!operation?.deadline_at) return null;
    const leftMs = () => Number(operation.deadline_at) - Date.now();
    const ended = await operationWaiter.waitForEnd(
      { tenantId, id },
      { ms: leftMs() + EARLY_TIMER_MS, signal },
    );
    if (!ended && leftMs() <= 0) await commitFundingExpiry(groupCommit, operation);
    const present = ended ?? (await operations.get(tenantId, id));
    return present && presentOperation(present);
  };
