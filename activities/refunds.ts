import { once } from 'node:events';
import type { RefundCalls } from '../src/capabilities/refunds/provider-calls.js';
import type { Refund } from '../src/capabilities/refunds/record.js';
import type { Refunds } from '../src/capabilities/refunds/store.js';
import { attemptReference } from '../src/capabilities/charges/record.js';
import type { Charges } from '../src/capabilities/charges/store.js';
import type { ReadAfterVerify } from '../src/capabilities/disputes/index.js';
import { withFaults, type InstructionHandler, type PartsAndFaults } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { logIds } from './log-ids.js';
import { PAYMENTS_STOPPED_BY } from './preparation.js';
import { toFact } from './provider-result.js';

/** Parts that the activities of refunds need. */
export type RefundActivityDeps = PartsAndFaults & {
  refunds: { store: Refunds; providerCalls: RefundCalls };
  charges: {
    store: Pick<Charges, 'get'>;
    starter: { notifyChangedSoon(charge: { _id: string }): void };
  };
  disputes: { readAfterVerify: ReadAfterVerify };
};

/** The activities of refunds. Their names are in histories, so they never change. */
export function createRefundActivities(deps: RefundActivityDeps) {
  const activities = providerActivities(refundHandler(deps));
  return {
    submitRefund: activities.submit,
    submitRefundLocally: activities.submitLocally,
    verifyRefund: activities.verify,
    applyRefundOutcome: activities.applyOutcome,
  };
}

/**
 * The refusal of a refund whose payment the provider has given back already. Its refunds and disputes are read then, because no
 * message may have told them. If the provider does not answer soon, the comparison with it finds them.
 */
const ALREADY_REFUNDED = 'charge_already_refunded';
const READ_WITHIN_MS = 8_000;

/** Reads what a provider has given back of the charge whose refund it refuses. */
async function readRefunded(
  { charges, disputes, log }: Pick<RefundActivityDeps, 'charges' | 'disputes' | 'log'>,
  refund: Refund,
): Promise<void> {
  const charge = await charges.store.get(refund.tenant_id, refund.charge_id);
  // Of an earlier attempt only the return from suspense is refused, and the operator who ordered it sees that.
  if (!charge || attemptReference(charge) !== refund.provider_charge_reference) return;
  const signal = AbortSignal.timeout(READ_WITHIN_MS);
  const read = disputes.readAfterVerify(charge, 'reversed', signal);
  const ids = logIds({ tenantId: refund.tenant_id, id: refund._id });
  await Promise.race([read, once(signal, 'abort')]).catch((error: unknown) =>
    log.warn({ err: error, ...ids }, 'could not read what was given back'),
  );
}

const refundHandler = ({
  refunds: { store: refunds, providerCalls },
  ...deps
}: RefundActivityDeps): InstructionHandler<Refund> => ({
  name: 'refund',
  records: refunds,
  ...withFaults(deps),
  capability: 'refunds',
  stoppedBy: PAYMENTS_STOPPED_BY,

  isSubmittedOnce: (refund) => providerCalls.resendSafetyOf(refund).kind === 'never',

  providerCallsFor: (refund) => ({
    provider: refund.provider,
    resendSafety: providerCalls.resendSafetyOf(refund),
    submit: (requestedAt, signal) => providerCalls.submit(refund, requestedAt, signal),
    verify: (signal) => providerCalls.verify(refund, signal),
  }),

  async apply({ tenantId, id }, report, origin) {
    const refund = await refunds.get(tenantId, id);
    if (!refund) return null;
    const outcome = await refunds.applyFact(refund, toFact(report, origin));
    // A charge whose payment was returned from suspense fails.
    if (refund.made_by === 'operator') {
      deps.charges.starter.notifyChangedSoon({ _id: refund.charge_id });
    }
    if (report.kind === 'rejected' && report.code === ALREADY_REFUNDED) {
      await readRefunded(deps, refund);
    }
    return outcome.kind === 'fact' ? outcome.refund : null;
  },
});
