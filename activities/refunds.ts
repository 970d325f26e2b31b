import type { Log } from '../src/log.js';
import type { RefundCalls } from '../src/payments/refunds/calls.js';
import type { Refund } from '../src/payments/refunds/refund.js';
import type { Refunds } from '../src/payments/refunds/store.js';
import type { FirstTries } from '../src/pursuits/first-try.js';
import { pursuitActivities, type Pursued } from './pursuits.js';
import { toFact } from './reports.js';

export type RefundActivityDeps = {
  refunds: Refunds;
  refundCalls: RefundCalls;
  firstTries: FirstTries;
  log: Log;
};

/** A refund's activities. Names are in histories; what they do is in pursuits.ts. */
export function createRefundActivities(deps: RefundActivityDeps) {
  const pursuit = pursuitActivities(pursuedRefunds(deps));
  return {
    submitRefund: pursuit.send,
    submitRefundHere: pursuit.sendHere,
    verifyRefund: pursuit.verify,
    settleRefund: pursuit.settle,
    readRefundStanding: pursuit.readStanding,
    noteRefundOperator: pursuit.noteOperator,
    raiseRefundAttention: pursuit.raiseAttention,
    noteRefundCancellation: pursuit.noteCancellation,
  };
}

/** How refunds are told to their providers, and settled. */
const pursuedRefunds = ({
  refunds,
  refundCalls,
  firstTries,
  log,
}: RefundActivityDeps): Pursued<Refund> => ({
  name: 'refund',
  records: refunds,
  log,
  firstTries,

  callsFor: (refund) => ({
    provider: refund.provider,
    absence: refundCalls.absenceOf(refund),
    send: (requestedAt, signal) => refundCalls.send(refund, requestedAt, signal),
    verify: (signal) => refundCalls.verify(refund, signal),
  }),

  async apply({ tenant, id }, report, origin) {
    const refund = await refunds.get(tenant, id);
    if (!refund) return null;
    const outcome = await refunds.applyFact(refund, toFact(report, origin));
    return outcome.kind === 'fact' ? outcome.refund : null;
  },
});
