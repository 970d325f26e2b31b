import { z } from 'zod';
import { reversibleMinorOf, type Charge } from '../../capabilities/charges/record.js';
import { presentDispute } from '../../capabilities/disputes/presenter.js';
import { disputeState, isInDoubt, type Dispute } from '../../capabilities/disputes/record.js';
import { findObstacle } from '../../capabilities/disputes/transitions.js';
import { ProviderNotConfigured } from '../../core/providers/not-configured.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import {
  amount,
  anyId,
  existing,
  flag,
  LISTED,
  printed,
  printedList,
  reason,
  refuseField,
  tenantId,
} from './schema.js';
import { orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';

const tag = 'Disputes of charges';

/** Lists a tenant's latest disputes of charges, or those that need an operator. */
export const listDisputes = operation({
  id: 'listDisputes',
  tag,
  method: 'get',
  path: '/disputes',
  summary: `List the latest ${LISTED} of a tenant; with attention, those that need an operator`,
  roles: READERS,
  query: z.strictObject({ tenant: tenantId.optional(), attention: flag }),
  answer: { status: 200, data: printedList },
});

/** Shows a dispute with its timeline. */
export const getDispute = operation({
  id: 'getDispute',
  tag,
  method: 'get',
  path: '/disputes/{id}',
  summary: 'Show a dispute with its timeline',
  roles: READERS,
  params: { id: anyId },
  answer: { status: 200, data: z.object({ record: printed, timeline: printedList }) },
});

/** Clears the attention of a dispute. */
export const acknowledgeDispute = operation({
  id: 'acknowledgeDispute',
  tag,
  method: 'post',
  path: '/disputes/{id}/acknowledge',
  summary:
    'Clear the attention of a dispute, also for repeats of the same contradiction; no money moves',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({ reason }),
  act: 'disputes.acknowledge',
  answer: { status: 200, data: printed },
});

/** Decides a dispute whose reports contradict each other. */
export const decideDispute = operation({
  id: 'decideDispute',
  tag,
  method: 'post',
  path: '/disputes/{id}/decide',
  summary: 'Decide a dispute whose reports contradict each other, and move its money',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({
    reason,
    outcome: z.enum(['won', 'lost']),
    amount_minor: amount.optional().meta({
      description:
        'The amount that the provider names in the end; that of the dispute if it is left out.',
    }),
  }),
  act: 'disputes.decide',
  answer: { status: 200, data: orWaiting(printed) },
});

/** The routes for disputes of charges. Their outcome is the provider's; operators decide where its reports contradict each other. */
export const disputeRoutes = (deps: OperatorDeps): Route[] => [
  route(listDisputes, async (ctx, { query: { tenant, attention } }) => {
    sendData(ctx, 200, (await latest(deps, attention, tenant)).map(present));
  }),

  route(getDispute, async (ctx, { params }) => {
    const found = await find(deps, params.id);
    const timeline = found.timeline.map((entry) => ({ ...entry, at: entry.at.toISOString() }));
    sendData(ctx, 200, { record: present(found), timeline });
  }),

  route(acknowledgeDispute, async (ctx, { params, body }) => {
    const found = await find(deps, params.id);
    const why = { tenantId: found.tenant_id, reason: body.reason };
    const act = actOf(ctx, 'disputes.acknowledge', found._id, why);
    const { dispute } = await deps.disputes.store.act(found, act, null);
    if (!dispute) {
      const message =
        'It has no attention, waits for `decide`, or changed in this moment: show it again.';
      throw new ApiError('invalid_state', { message });
    }
    sendData(ctx, 200, { ...present(dispute), acknowledged: found.attention?.reason ?? null });
  }),

  route(decideDispute, async (ctx, { params, body }) => {
    const found = await find(deps, params.id);
    const { outcome, amount_minor: named } = body;
    const amountMinor = named === undefined ? found.amount_minor : BigInt(named);
    const decision = { outcome, amountMinor };
    const charge = await existing(
      deps.charges.store.get(found.tenant_id, found.charge_id),
      'charge',
    );
    // Before anybody is asked to approve it.
    const obstacle = findObstacle(found, decision, reversibleMinorOf(charge));
    if (obstacle !== null) throw new ApiError('invalid_state', { message: obstacle });
    const { isConfirmed, answer } = await askProvider(deps, charge, found, decision);
    const asked = {
      act: actOf(ctx, 'disputes.decide', found._id, {
        tenantId: found.tenant_id,
        reason: body.reason,
      }),
      state: disputeState(found),
      input: { params, body },
      answer,
    };
    const act = isConfirmed ? asked.act : await permit(deps, ctx, asked, { act: 'unproven' });
    if (!act) return;
    const { dispute } = await deps.disputes.store.act(found, act, decision);
    if (!dispute) {
      const message = 'It changed in this moment: show it again.';
      throw new ApiError('invalid_state', { message });
    }
    const message = `Done: ${dispute._id}. The provider was asked now: ${answer}.`;
    sendData(ctx, 200, { ...present(dispute), message });
  }),
];

const find = ({ disputes }: OperatorDeps, id: string): Promise<Dispute> =>
  existing(disputes.store.find(id), 'dispute');

function latest(
  { disputes: { store } }: OperatorDeps,
  attention: boolean,
  tenant: string | undefined,
): Promise<Dispute[]> {
  if (attention)
    return store.latest({ attention, ...(tenant !== undefined && { tenantId: tenant }) }, LISTED);
  // No index has the disputes of all tenants by their time.
  if (tenant === undefined) throw refuseField('tenant', 'Name a tenant, or ask for attention.');
  return store.latest({ attention, tenantId: tenant }, LISTED);
}

/**
 * Asks the provider about a dispute. `isConfirmed`: it names this outcome and amount beyond doubt, in the currency of the dispute.
 * `answer`: its answer in words.
 */
async function askProvider(
  { disputes }: OperatorDeps,
  charge: Charge,
  dispute: Dispute,
  { outcome, amountMinor }: { outcome: 'won' | 'lost'; amountMinor: bigint },
): Promise<{ isConfirmed: boolean; answer: string }> {
  const { signal } = new AbortController();
  const asked = await disputes.readDispute(charge, dispute, signal).catch(nullIfNotConfigured);
  if (!asked) return { isConfirmed: false, answer: 'it is not configured any more' };
  const { theirs, isAnswered } = asked;
  if (!theirs) {
    const answer = isAnswered ? 'it does not list the dispute' : 'it does not answer';
    return { isConfirmed: false, answer };
  }
  const isDoubtful = isInDoubt(charge, dispute, theirs);
  const isConfirmed =
    theirs.state === outcome &&
    !isDoubtful &&
    theirs.amountMinor === amountMinor &&
    theirs.currency === dispute.currency;
  const said = isDoubtful ? 'declined, and the charge is reversed' : theirs.state;
  const unit = theirs.currency === 'NGN' ? 'kobo' : `in minor units of ${theirs.currency}`;
  const answer = `it reports the dispute as ${said}, of ${theirs.amountMinor} ${unit}`;
  return { isConfirmed, answer };
}

function nullIfNotConfigured(error: unknown): null {
  if (error instanceof ProviderNotConfigured) return null;
  throw error;
}

const present = (dispute: Dispute) => ({
  ...presentDispute(dispute),
  tenant: dispute.tenant_id,
  provider: dispute.provider,
  provider_dispute_id: dispute.provider_dispute_id,
  funds: dispute.funds,
  attention: dispute.attention?.reason ?? null,
});
