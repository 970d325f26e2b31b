import { once } from 'node:events';
import type { Log } from '../src/shared/log.js';
import type { ChargeCalls } from '../src/capabilities/charges/provider-calls.js';
import {
  hasPaymentInDoubt,
  isOfPage,
  PAYMENT_MISMATCH,
  type Charge,
} from '../src/capabilities/charges/record.js';
import { isOpen } from '../src/core/instructions/instruction.js';
import type { ChargeFact } from '../src/capabilities/charges/facts.js';
import type { ReadAfterVerify } from '../src/capabilities/disputes/index.js';
import type { Charges } from '../src/capabilities/charges/store.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import type { FactResult } from '../src/core/instructions/workflow-contract.js';
import { withFaults, type InstructionHandler, type PartsAndFaults } from './instruction-handler.js';
import { providerActivities } from './instructions.js';
import { logIds } from './log-ids.js';
import { PAYMENTS_STOPPED_BY } from './preparation.js';

/** Parts that the activities of charges need. */
export type ChargeActivityDeps = PartsAndFaults & {
  charges: { store: Charges; providerCalls: ChargeCalls };
  disputes: { readAfterVerify: ReadAfterVerify };
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

/** Bound of a question after an acceptance, below that of the local activity which makes it (`ownStore`). */
const ASKED_WITHIN_MS = 8_000;

/** True if an operator's acceptance has completed a charge whose customer has saved a method for its token. */
const mayHaveMethod = (fact: ChargeFact, charge: Charge): boolean =>
  fact.kind === 'operator_confirmed' &&
  fact.amountMinor !== undefined &&
  charge.status === 'completed' &&
  isOfPage(charge) &&
  charge.payment_token_id !== null;

/**
 * Asks for an accepted payment again: the method that its customer has saved was not kept with it, and is bound to the token now. If
 * the provider does not answer soon, the next verification binds it.
 */
async function askForMethod(
  { verify }: Pick<ChargeCalls, 'verify'>,
  log: Log,
  charge: Charge,
): Promise<void> {
  const signal = AbortSignal.timeout(ASKED_WITHIN_MS);
  const ids = logIds({ tenantId: charge.tenant_id, id: charge._id });
  await Promise.race([verify(charge, signal), once(signal, 'abort')]).catch((error: unknown) =>
    log.warn({ err: error, ...ids }, 'could not read the saved method'),
  );
}

const chargeHandler = ({
  charges: { store: charges, providerCalls },
  disputes: { readAfterVerify },
  ...deps
}: ChargeActivityDeps): InstructionHandler<Charge> => ({
  name: 'charge',
  records: charges,
  ...withFaults(deps),
  capability: 'charges',
  stoppedBy: PAYMENTS_STOPPED_BY,

  prepares: () => providerCalls.prepares(),

  withheldFor: (charge) => (hasPaymentInDoubt(charge) ? PAYMENT_MISMATCH : null),

  providerCallsFor: (charge) => ({
    provider: charge.provider,
    resendSafety: providerCalls.resendSafetyOf(charge),
    prepare: providerCalls.preparationOf(charge),
    cancel: (signal) => providerCalls.fence(charge, signal),
    submit: (requestedAt, signal) => providerCalls.submit(charge, requestedAt, signal),
    async verify(signal, attempt) {
      if (attempt !== undefined) return providerCalls.verifyAttempt(charge, attempt, signal);
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
    if (outcome.kind !== 'fact') return null;
    if (mayHaveMethod(fact, outcome.charge)) {
      await askForMethod(providerCalls, deps.log, outcome.charge);
    }
    return outcome.charge;
  },
});

/**
 * The fact of an operator's command, or of a refusal that no submission of the charge has had; null for everything else,
 * because `provider-calls.ts` has committed the provider's answer already.
 */
function toFact(
  report: FactResult,
  origin: FactSource,
  charge: Pick<Charge, 'status' | 'attempt' | 'submissions'>,
): ChargeFact | null {
  if (origin.via !== 'operator') return absenceIn(report, origin, charge);
  const by = { ...origin, attempt: null };
  if (report.kind === 'operator_confirmed') {
    const { amountMinor, attempt = null } = report;
    const accepted = amountMinor === undefined ? {} : { amountMinor: BigInt(amountMinor) };
    return { ...by, attempt, kind: 'operator_confirmed', ...accepted };
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
  charge: Pick<Charge, 'status' | 'attempt' | 'submissions'>,
): ChargeFact | null {
  if (report.kind !== 'rejected' || !isOpen(charge)) return null;
  // Meanwhile a report has ended the attempt whose absence was proven: the next one was not submitted yet.
  if (origin.via === 'poll' && charge.submissions === 0) return null;
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
