import type { Log } from '../src/shared/log.js';
import type { ChargeCalls } from '../src/capabilities/charges/provider-calls.js';
import type { Charge } from '../src/capabilities/charges/record.js';
import { isOpen } from '../src/core/instructions/instruction.js';
import type { ChargeFact } from '../src/capabilities/charges/facts.js';
import type { ReadAfterVerify } from '../src/capabilities/disputes/index.js';
import type { Charges } from '../src/capabilities/charges/store.js';
import type { ProviderFaults } from '../src/core/providers/faults.js';
import type { OperatorActs } from '../src/core/approvals/operator-acts.js';
import type { LocalSubmissionLimiter } from '../src/core/instructions/local-submission-limiter.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import type { FactResult } from '../src/core/instructions/workflow-contract.js';
import type { InstructionHandler } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { PAYMENTS_STOPPED_BY } from './preparation.js';

/** Parts that the activities of charges need. */
export type ChargeActivityDeps = {
  charges: { store: Charges; providerCalls: ChargeCalls };
  disputes: { readAfterVerify: ReadAfterVerify };
  localSubmissions: LocalSubmissionLimiter;
  operatorActs: OperatorActs;
  providerFaults: ProviderFaults;
  log: Log;
};

/** The activities of charges. Their names are in histories, so they never change. */
export function createChargeActivities(deps: ChargeActivityDeps) {
  const activities = providerActivities(chargeHandler(deps));
  return {
    submitCharge: activities.submit,
    submitChargeLocally: activities.submitLocally,
    verifyCharge: activities.verify,
    applyChargeOutcome: activities.applyOutcome,
  };
}

const chargeHandler = ({
  charges: { store: charges, providerCalls },
  disputes: { readAfterVerify },
  localSubmissions,
  operatorActs,
  providerFaults: faults,
  log,
}: ChargeActivityDeps): InstructionHandler<Charge> => ({
  name: 'charge',
  records: charges,
  log,
  localSubmissions,
  operatorActs,
  capability: 'charges',
  faults,
  stoppedBy: PAYMENTS_STOPPED_BY,

  prepares: () => providerCalls.prepares(),

  providerCallsFor: (charge) => ({
    provider: charge.provider,
    resendSafety: providerCalls.resendSafetyOf(charge),
    prepare: providerCalls.preparationOf(charge),
    cancel: (signal) => providerCalls.fence(charge, signal),
    submit: (requestedAt, signal) => providerCalls.submit(charge, requestedAt, signal),
    async verify(signal) {
      const outcome = await providerCalls.verify(charge, signal, { opensPages: true });
      await readAfterVerify(charge, outcome.kind, signal);
      return outcome;
    },
  }),

  async apply({ tenantId, id }, report, origin) {
    const charge = await charges.get(tenantId, id);
    const fact = charge && toFact(report, origin, charge);
    if (!charge || !fact) return charge;
    const outcome = await charges.applyFact(charge, fact);
    return outcome.kind === 'fact' ? outcome.charge : null;
  },
});

/**
 * The fact of an operator's command, or of a refusal that no submission of the charge has had; null for everything else,
 * because `provider-calls.ts` has committed the provider's answer already.
 */
function toFact(
  report: FactResult,
  origin: FactSource,
  charge: Pick<Charge, 'status' | 'attempt'>,
): ChargeFact | null {
  if (origin.via !== 'operator') return absenceIn(report, origin, charge);
  const by = { ...origin, attempt: null };
  if (report.kind === 'operator_confirmed') {
    const { amountMinor } = report;
    const accepted = amountMinor === undefined ? {} : { amountMinor: BigInt(amountMinor) };
    return { ...by, kind: 'operator_confirmed', ...accepted };
  }
  if (report.kind !== 'rejected') return null;
  const { code, ifNotSubmitted } = report;
  return {
    ...by,
    kind: 'rejected',
    code,
    decline: 'hard',
    ...(ifNotSubmitted && { ifNotSubmitted }),
  };
}

/** An open charge with this report was refused here or in its preparation, and its provider has nothing of it. */
function absenceIn(
  report: FactResult,
  origin: FactSource,
  charge: Pick<Charge, 'status' | 'attempt'>,
): ChargeFact | null {
  if (report.kind !== 'rejected' || !isOpen(charge)) return null;
  const { code, ifNotSubmitted } = report;
  const { attempt } = charge;
  return {
    ...origin,
    via: 'note',
    actor: 'bursar',
    kind: 'rejected',
    code,
    decline: 'hard',
    attempt,
    ...(ifNotSubmitted && { ifNotSubmitted }),
  };
}
