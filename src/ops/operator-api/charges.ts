import { z } from 'zod';
import { isUndecided, type SuspendedPayment } from '../../capabilities/charges/record.js';
import { presentRefundRow } from '../../capabilities/refunds/presenter.js';
import { instructionState } from '../../core/instructions/instruction.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import { newId } from '../../shared/ids.js';
import type { OperatorDeps } from './deps.js';
import { WORKERS } from './roles.js';
import { anyId, existing, printed, reason } from './schema.js';
import { orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';

/** Returns a payment in suspense to the customer. */
export const returnPayment = operation({
  id: 'returnPayment',
  tag: 'charges',
  method: 'post',
  path: '/charges/{id}/return',
  summary: 'Return a payment in suspense to the customer, by a refund of its attempt',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({
    reason,
    attempt: z.int().min(1).max(9_999).optional().meta({
      description:
        'The attempt that was paid; needed if payments of several attempts are in suspense.',
    }),
  }),
  act: 'charges.return',
  answer: { status: 200, data: orWaiting(printed) },
});

/** The route for the return of a payment in suspense. Charges are instructions; see instructions.ts. */
export const chargeReturnRoutes = (deps: OperatorDeps): Route[] => [
  route(returnPayment, async (ctx, { params, body }) => {
    const charge = await existing(deps.charges.store.find(params.id), 'charge');
    const { _id: id, tenant_id: tenantId } = charge;
    const { attempt, amount_minor: amountMinor } = paymentOf(charge.suspended, body.attempt);
    const asked = {
      act: actOf(ctx, 'charges.return', id, { tenantId, reason: body.reason }),
      state: instructionState(charge),
      input: { params, body: { ...body, attempt } },
    };
    const act = await permit(deps, ctx, asked, { act: 'return', amountMinor });
    if (!act) return;
    const order = { tenantId, id: newId('refund'), charge: id, attempt, act };
    const refund = await deps.refunds.store.orderReturn(order);
    if (!refund) throw notInSuspense();
    deps.refunds.starter.startSoon(refund);
    sendData(ctx, 200, presentRefundRow(refund));
  }),
];

const notInSuspense = () =>
  new ApiError('invalid_state', {
    message: 'No payment of this attempt is in suspense, or it is being returned already.',
  });

/** The payment that is meant. Without an attempt there must be one alone that nobody returns. */
function paymentOf(suspended: readonly SuspendedPayment[], attempt?: number): SuspendedPayment {
  const open = suspended.filter(isUndecided);
  const meant = attempt === undefined ? open : open.filter((each) => each.attempt === attempt);
  const [first, ...others] = meant;
  if (!first) throw notInSuspense();
  if (others.length === 0) return first;
  const attempts = meant.map((each) => each.attempt).join(', ');
  throw new ApiError('invalid_state', {
    field: 'attempt',
    message: `Payments of several attempts are in suspense: ${attempts}. Name one.`,
  });
}
