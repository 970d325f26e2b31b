import type { Log } from '../src/log.js';
import type { ChargeCalls } from '../src/payments/charges/calls.js';
import type { Charge } from '../src/payments/charges/charge.js';
import type { ChargeFact } from '../src/payments/charges/facts.js';
import type { Charges } from '../src/payments/charges/store.js';
import type { FirstTries } from '../src/pursuits/first-try.js';
import type { FactOrigin } from '../src/pursuits/facts.js';
import type { FactReport } from '../src/pursuits/reports.js';
import { pursuitActivities, type Pursued } from './pursuits.js';

export type ChargeActivityDeps = {
  charges: Charges;
  chargeCalls: ChargeCalls;
  firstTries: FirstTries;
  log: Log;
};

/** A charge's activities. Names are in histories; what they do is in pursuits.ts. */
export function createChargeActivities(deps: ChargeActivityDeps) {
  const pursuit = pursuitActivities(pursuedCharges(deps));
  return {
    submitCharge: pursuit.send,
    submitChargeHere: pursuit.sendHere,
    verifyCharge: pursuit.verify,
    settleCharge: pursuit.settle,
    readChargeStanding: pursuit.readStanding,
    noteChargeOperator: pursuit.noteOperator,
    raiseChargeAttention: pursuit.raiseAttention,
    noteChargeCancellation: pursuit.noteCancellation,
  };
}

/** How charges are told to their providers, and settled. */
const pursuedCharges = ({
  charges,
  chargeCalls,
  firstTries,
  log,
}: ChargeActivityDeps): Pursued<Charge> => ({
  name: 'charge',
  records: charges,
  log,
  firstTries,

  callsFor: (charge) => ({
    provider: charge.provider,
    absence: chargeCalls.absenceOf(charge),
    send: (requestedAt, signal) => chargeCalls.send(charge, requestedAt, signal),
    verify: (signal) => chargeCalls.verify(charge, signal),
  }),

  async apply({ tenant, id }, report, origin) {
    const charge = await charges.get(tenant, id);
    const fact = toFact(report, origin);
    if (!charge || !fact) return charge;
    const outcome = await charges.applyFact(charge, fact);
    return outcome.kind === 'fact' ? outcome.charge : null;
  },
});

/** What the provider said was booked by who heard it (calls.ts): here only an operator's word is left. */
function toFact(report: FactReport, origin: FactOrigin): ChargeFact | null {
  if (origin.via !== 'operator') return null;
  const by = { ...origin, attempt: null };
  if (report.kind === 'confirmed') return { ...by, kind: 'confirmed' };
  if (report.kind !== 'refused') return null;
  const { code, ifUnsent } = report;
  return { ...by, kind: 'refused', code, decline: 'hard', ...(ifUnsent && { ifUnsent }) };
}
