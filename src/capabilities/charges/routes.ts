import { ApiError } from '../../shared/errors.js';
import { callerOf, type Context } from '../../platform/http/context.js';
import { presentEnded, withIdempotency } from '../../core/idempotency/with-idempotency.js';
import { UnsavedAnswer, withSavedAnswer } from '../../core/idempotency/with-saved-answer.js';
import { API_PREFIX } from '../../platform/http/operation.js';
import { untilClosed } from '../../platform/http/prefer.js';
import { sendData, sendList } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { rangeOf } from '../../platform/http/wire.js';
import { isOpen } from '../../core/instructions/instruction.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import type { Idempotency } from '../../core/idempotency/store.js';
import { sendTimeline, type TimelineWebhooks } from '../../core/instructions/send-timeline.js';
import type { RateLimits } from '../../platform/rate-limits/store.js';
import type { Providers } from '../../core/providers/registry.js';
import type { CompletionWaiter } from '../../shared/completion-waiter.js';
import {
  cancelCharge,
  createCharge,
  getCharge,
  getChargeTimeline,
  listCharges,
  verifyCharge,
} from './api.js';
import { isToCancel, otherAttempts, type ChargeCalls } from './provider-calls.js';
import { readAttempt, type Charge } from './record.js';
import type { CreateCharge } from './create.js';
import { presentCharge } from './presenter.js';
import type { ListChargesQuery } from './schema.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { ChargeListing, Charges } from './store.js';

/** The routes of charges. */
export function chargeRoutes(deps: {
  charges: {
    store: Charges;
    starter: Pick<WorkflowStarter<Charge>, 'notifyChangedSoon'>;
    providerCalls: ChargeCalls;
    waiter: CompletionWaiter<Charge>;
    create: CreateCharge;
  };
  disputes: {
    readAfterVerify: (
      charge: Charge,
      kind: string,
      signal: AbortSignal,
      mayCall: MayCall,
    ) => Promise<void>;
  };
  groupCommit: Pick<GroupCommit, 'commit'>;
  idempotency: Idempotency;
  webhooks: TimelineWebhooks;
  rateLimits: Pick<RateLimits, 'take'>;
  providers: Pick<Providers, 'payment' | 'payments'>;
}): Route[] {
  const { idempotency, webhooks, providers } = deps;
  const verifyNow = createVerification(deps);
  const { store: charges, waiter, create } = deps.charges;
  const find = createFinder(charges, providers);

  return [
    route(createCharge, async (ctx, { body }) => {
      const caller = callerOf(ctx);
      await withIdempotency(
        ctx,
        { idempotency, resource: `${API_PREFIX}/payments/charges`, named: 'reference' },
        (claim) => create(caller, body, claim),
        presentEnded({ waiter, store: charges, tenantId: caller.tenant.id }, presentCharge),
      );
    }),

    route(listCharges, async (ctx, { query }) => {
      const { items, total } = await charges.list(callerOf(ctx).tenant.id, listing(query));
      sendList(ctx, items.map(presentCharge), { page: query.page, limit: query.limit, total });
    }),

    route(getCharge, async (ctx, { params }) => {
      sendData(ctx, 200, presentCharge(await find(ctx, params.reference)));
    }),

    route(getChargeTimeline, async (ctx, { params, query }) => {
      await sendTimeline(ctx, webhooks, await find(ctx, params.reference), query);
    }),

    verifyRoute(deps, { find, verifyNow }),

    cancelRoute(deps, { find, verifyNow }),
  ];
}

/** The charge of an action, and its path. A charge has several names, and one of them stands in it. */
const actionOn = ({ _id: id }: Charge, action: 'verify' | 'cancel') => ({
  resource: id,
  path: `${API_PREFIX}/payments/charges/${id}/${action}`,
});

/** The charge as an answer, which is saved under a key only if the provider has answered. */
const shown = (charge: Charge, isAnswered: boolean): object =>
  isAnswered ? presentCharge(charge) : new UnsavedAnswer(presentCharge(charge));

type Finder = (ctx: Context, reference: string) => Promise<Charge>;

/** The parts of the routes that ask a provider about a charge on request. */
type OnRequest = { find: Finder; verifyNow: ReturnType<typeof createVerification> };

/** The route that verifies a charge. */
const verifyRoute = (
  deps: Pick<
    Parameters<typeof chargeRoutes>[0],
    'charges' | 'disputes' | 'groupCommit' | 'idempotency'
  >,
  { find, verifyNow }: OnRequest,
): Route =>
  route(verifyCharge, async (ctx, { params }) => {
    const { providerCalls, starter } = deps.charges;
    const { readAfterVerify } = deps.disputes;
    const charge = await find(ctx, params.reference);
    await withSavedAnswer(ctx, deps, actionOn(charge, 'verify'), async () => {
      const { withoutDeadline = (wait) => wait } = ctx.state;
      const verify = async (signal: AbortSignal, mayFind: MayCall) => {
        const { kind } = await providerCalls.verify(charge, signal, { withoutDeadline });
        await withoutDeadline(readAfterVerify(charge, kind, signal, mayFind));
        return kind !== 'unknown';
      };
      // Without a submission there is nothing to verify, so the charge as it is answers the request.
      const isSubmitted = charge.submissions > 0;
      const isAnswered = !isSubmitted || (await verifyNow(charge, verify, untilClosed(ctx)));
      if (isSubmitted) starter.notifyChangedSoon(charge);
      return shown(await find(ctx, params.reference), isAnswered);
    });
  });

/** The route that cancels an open charge. */
const cancelRoute = (
  deps: Pick<Parameters<typeof chargeRoutes>[0], 'charges' | 'groupCommit' | 'idempotency'>,
  { find, verifyNow }: OnRequest,
): Route =>
  route(cancelCharge, async (ctx, { params }) => {
    const { providerCalls, starter } = deps.charges;
    const charge = await find(ctx, params.reference);
    await withSavedAnswer(ctx, deps, actionOn(charge, 'cancel'), async () => {
      if (!isOpen(charge)) {
        if (!isCancelled(charge)) throw notCancellable(charge);
        return presentCharge(charge);
      }
      const { withoutDeadline } = ctx.state;
      const requested = await providerCalls.requestCancellation(charge);
      if (!requested) throw notCancellable(charge);
      const cancel = async (signal: AbortSignal) => {
        const { kind } = await providerCalls.verify(requested, signal, { withoutDeadline });
        return kind !== 'unknown';
      };
      const isAnswered =
        !isOpen(requested) || (await verifyNow(requested, cancel, untilClosed(ctx)));
      starter.notifyChangedSoon(charge);
      return shown(await find(ctx, params.reference), isAnswered);
    });
  });

const isCancelled = ({ status, failure }: Charge): boolean =>
  status === 'failed' && failure?.code === 'cancelled';

const notCancellable = ({ status }: Charge): ApiError =>
  new ApiError('invalid_state', {
    message: `The charge is ${status}, and can’t be cancelled.`,
    details: { status },
  });

/**
 * Returns the function that finds the caller's charge by its reference, its id, or the reference with which a customer
 * returns from the page. A charge of another tenant is `not_found`.
 */
function createFinder(
  charges: Pick<Charges, 'byReference' | 'get'>,
  providers: Pick<Providers, 'payments'>,
) {
  /** The id of a charge in a reference that comes back from a page, in its provider's characters. */
  function idOf(theirs: string): string | null {
    for (const { payments } of providers.payments) {
      const ours = payments.references.toOurs(theirs);
      const attempt = ours === null ? null : readAttempt(ours);
      if (attempt) return attempt.id;
    }
    return null;
  }

  return async (ctx: Context, reference: string): Promise<Charge> => {
    const tenantId = callerOf(ctx).tenant.id;
    const found =
      (await charges.byReference(tenantId, reference)) ??
      (await charges.get(tenantId, idOf(reference) ?? reference));
    if (!found) throw new ApiError('not_found');
    return found;
  };
}

/** The share of each of a provider's rates that verifications and cancellations on request may use. */
const VERIFY_SHARE = 0.25;

/** Counts a call to a provider. False: its share of the rate is used up, and it must not be made. */
type MayCall = () => Promise<boolean>;

/**
 * Verifies and cancels charges on request: one question about a charge at a time, and no more calls than a share of the provider's
 * rates over all processes. Beyond it the charge is returned as it is stored, and its workflow asks within the provider's rate.
 * Returns true if the provider has answered; `verify` returns that of its call. `verify` asks `mayFind` before each call for refunds
 * and disputes, whose rate may be another one than that of the question.
 */
export function createVerification({
  rateLimits,
  providers,
}: {
  rateLimits: Pick<RateLimits, 'take'>;
  providers: Pick<Providers, 'payment'>;
}) {
  type Ask = (signal: AbortSignal, mayFind: MayCall) => Promise<boolean>;
  const open = new Map<string, Promise<boolean>>();

  async function mayCall(provider: string, call: 'verify' | 'cancel' | 'find'): Promise<boolean> {
    const { bucket, perSecond } = providers.payment(provider).payments.rates[call];
    const perMinute = Math.max(1, Math.floor(perSecond * 60 * VERIFY_SHARE));
    const allowance = { rate: perMinute, burst: perMinute };
    return (await rateLimits.take(`verify:${provider}/${bucket}`, allowance)).allowed;
  }

  const callFor = (charge: Charge) =>
    isToCancel(charge) && providers.payment(charge.provider).cancelCharge ? 'cancel' : 'verify';

  async function ask(charge: Charge, verify: Ask, signal: AbortSignal): Promise<boolean> {
    // The other pages of a charge are asked about too, and a later attempt that may have been taken.
    const calls = otherAttempts(charge, false).length + 1;
    for (let call = 0; call < calls; call += 1) {
      if (!(await mayCall(charge.provider, callFor(charge)))) return false;
    }
    return verify(signal, () => mayCall(charge.provider, 'find'));
  }

  return async (charge: Charge, verify: Ask, signal: AbortSignal): Promise<boolean> => {
    const which = `${charge._id}/${callFor(charge)}`;
    const asked = open.get(which);
    if (asked) return asked.catch(() => false);
    const question = ask(charge, verify, signal).finally(() => open.delete(which));
    open.set(which, question);
    return question;
  };
}

/** Translates the query for the store: inclusive days become a half-open range. */
function listing(query: ListChargesQuery): ChargeListing {
  const { page, limit, status, customer_id: customer } = query;
  return {
    page,
    limit,
    status,
    customer,
    descending: query.sort.startsWith('-'),
    ...rangeOf(query),
  };
}
