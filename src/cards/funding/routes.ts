import { callerOf, type Context } from '../../http/context.js';
import { answerOnce, API_PREFIX, type Present } from '../../http/idempotency.js';
import type { createSafeguard } from '../../http/rate-limit.js';
import { sendData } from '../../http/respond.js';
import { route, type Route } from '../../http/routes.js';
import type { Idempotency } from '../../idempotency/store.js';
import type { GroupCommit } from '../../ledger/group-commit.js';
import type { Tenant } from '../../tenants/tenant.js';
import { amountWithin } from '../../transfers/new-transfer.js';
import type { Watch } from '../../watch.js';
import { cardFinder } from '../find.js';
import type { CardOperation } from '../operation.js';
import { presentOperation } from '../presenter.js';
import type { CardOperations, Cards } from '../store.js';
import { fundCard, getCardAutoReload, jitFundCard, putCardAutoReload } from './api.js';
import { expireFunding } from './apply.js';
import type { FundCard } from './fund.js';
import { presentAutoReload } from './presenter.js';
import type { AutoReloadBody, FundBody } from './schema.js';

type Deps = {
  config: { cards: { jitDeadlineMs: number } };
  cards: Cards;
  cardOperations: CardOperations;
  cardOperationWatch: Watch<CardOperation>;
  groupCommit: GroupCommit;
  fundCard: FundCard;
  idempotency: Idempotency;
  safeguard: ReturnType<typeof createSafeguard>;
};

export function cardFundingRoutes(deps: Deps): Route[] {
  const { cards, groupCommit, safeguard } = deps;
  const find = cardFinder(cards);

  async function fund(ctx: Context, id: string, body: FundBody, jitDeadlineMs: number | null) {
    const arrivedAt = Date.now();
    const { tenant } = callerOf(ctx);
    const card = await find(ctx, id);
    await safeguard(ctx, 'card_fund', card._id);
    const at = `${API_PREFIX}/cards/${card._id}`;
    const jit = jitDeadlineMs !== null;
    const deadlineAt = jit ? new Date(arrivedAt + jitDeadlineMs) : null;
    await answerOnce(
      ctx,
      {
        idempotency: deps.idempotency,
        resource: `${at}/operations`,
        path: `${at}/${jit ? 'jit-fund' : 'fund'}`,
        ...(jit && { waitMs: jitDeadlineMs }),
      },
      (claim) => deps.fundCard({ tenant, card, body, claim, deadlineAt }),
      jit ? presentInTime(deps, tenant.id) : presentWhenEnded(deps, tenant.id),
    );
  }

  return [
    route(fundCard, (ctx, { params, body }) => fund(ctx, params.id, body, null)),

    route(jitFundCard, (ctx, { params, body }) =>
      fund(ctx, params.id, body, deps.config.cards.jitDeadlineMs),
    ),

    route(getCardAutoReload, async (ctx, { params }) => {
      sendData(ctx, 200, presentAutoReload(await find(ctx, params.id), new Date()));
    }),

    route(putCardAutoReload, async (ctx, { params, body }) => {
      const { tenant } = callerOf(ctx);
      const settings = reloadSettings(tenant, body);
      const outcome = await groupCommit.commit({
        kind: 'setReload',
        tenant: tenant.id,
        id: params.id,
        settings,
      });
      if (outcome.kind === 'refused') throw outcome.error;
      sendData(ctx, 200, presentAutoReload(outcome.card, new Date()));
    }),
  ];
}

const presentWhenEnded =
  ({ cardOperations, cardOperationWatch: watch }: Deps, tenant: string): Present =>
  async (id, wait) => {
    const operation = (await watch.ended(id, wait)) ?? (await cardOperations.get(tenant, id));
    return operation && presentOperation(operation);
  };

/** A timer may come a little before its time, and nothing expires before that. */
const TIMERS_EARLY_MS = 5;

/** Until its deadline and no longer: then it has failed for who waits, whether its workflow runs or not. */
const presentInTime =
  (deps: Deps, tenant: string): Present =>
  async (id, { signal }) => {
    const { cardOperations, cardOperationWatch: watch, groupCommit } = deps;
    const operation = await cardOperations.get(tenant, id);
    if (!operation?.deadline_at) return null;
    const leftMs = () => Number(operation.deadline_at) - Date.now();
    const ended = await watch.ended(id, { ms: leftMs() + TIMERS_EARLY_MS, signal });
    if (!ended && leftMs() <= 0) await expireFunding(groupCommit, operation);
    const present = ended ?? (await cardOperations.get(tenant, id));
    return present && presentOperation(present);
  };

function reloadSettings(tenant: Tenant, body: AutoReloadBody) {
  return {
    enabled: body.enabled,
    threshold_minor: BigInt(body.threshold_minor),
    amount_minor: amountWithin(tenant, body),
    daily_cap_minor: BigInt(body.daily_cap_minor),
  };
}
