import { z } from 'zod';
import { presentRefundRow } from '../../capabilities/refunds/presenter.js';
import { masked } from '../../capabilities/refunds/record.js';
import { instructionState } from '../../core/instructions/instruction.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import type { OperatorDeps } from './deps.js';
import { WORKERS } from './roles.js';
import { anyId, existing, printed, reason } from './schema.js';
import { orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';

/** Continues a refund that waits for an account of the customer. */
export const resumeRefund = operation({
  id: 'resumeRefund',
  tag: 'refunds',
  method: 'post',
  path: '/refunds/{id}/resume',
  summary: 'Send the customer’s account to a provider that cannot refund to the card',
  description:
    'The account is sealed until the provider has it, and then forgotten. It is sent only while the provider waits for one.',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({
    reason,
    account_number: z.string().regex(/^[0-9]{10}$/, 'must be 10 digits'),
    bank_code: z.string().regex(/^[0-9]{3,6}$/, 'must be a bank code of 3 to 6 digits'),
  }),
  act: 'refunds.resume',
  answer: { status: 200, data: orWaiting(printed) },
});

/** The route that continues a refund. Refunds are instructions; see instructions.ts. */
export const refundResumeRoutes = (deps: OperatorDeps): Route[] => [
  route(resumeRefund, async (ctx, { params, body }) => {
    const { store, starter } = deps.refunds;
    const refund = await existing(store.find(params.id), 'refund');
    if (!deps.providers.payment(refund.provider).resumeRefund) {
      throw new ApiError('invalid_state', {
        message: 'Its provider takes no account for a refund.',
      });
    }
    const why = { tenantId: refund.tenant_id, reason: body.reason };
    const asked = {
      act: actOf(ctx, 'refunds.resume', refund._id, why),
      state: instructionState(refund),
      input: { params, body },
    };
    const act = await permit(deps, ctx, asked, { act: 'refund_account' });
    if (!act) return;
    const account = { number: body.account_number, bank_code: body.bank_code };
    const changed = await store.nameAccount(refund, account, act);
    if (!changed) {
      const message =
        'The refund has ended, or its provider does not have it: there is nothing to continue.';
      throw new ApiError('invalid_state', { message });
    }
    starter.notifyChangedSoon(changed);
    sendData(ctx, 200, { ...presentRefundRow(changed), account: masked(account) });
  }),
];
