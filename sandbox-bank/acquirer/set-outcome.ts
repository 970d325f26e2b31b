import { answer, errorAnswer, type Outcome } from '../shared/wire.js';
import type { ChargeOutcomes } from './charge-outcomes.js';
import { channelOf, type Charge, type ChargeState } from './charge-state.js';
import { paymentMethodOf, paymentMethodsOf } from './payment-methods.js';
import { noSuchCharge, presentCharge } from './wire.js';

type OutcomeToSet = { outcome: 'paid' | 'declined' | 'abandoned'; choice?: string | undefined };

/**
 * Creates the control that decides a charge for tests, found by its own or by the client's reference: completes its
 * page without a browser, or ends a pending charge. An abandoned charge can still be paid, as at real acquirers.
 */
export function createOutcomeSetter(
  { charges }: { charges: ChargeState },
  outcomes: ChargeOutcomes,
) {
  /** Returns the refusal, or null if the charge was decided. */
  function decide(charge: Charge, { outcome, choice: wanted }: OutcomeToSet): Outcome | null {
    const { status } = charge;
    const channel = channelOf(charge);
    if (outcome === 'declined') {
      outcomes.decline(charge, { code: 'card_declined', decline: 'hard' });
    } else if (outcome === 'abandoned') {
      if (status !== 'open') return errorAnswer(409, 'not_open', 'no customer is at a page of it');
      outcomes.leave(charge, 'abandoned');
    } else if (status === 'pending' || channel === null) outcomes.applyOutcome(charge);
    else {
      const first = paymentMethodsOf(channel)[0];
      const choice = wanted === undefined ? first : paymentMethodOf(channel, wanted);
      if (!choice) return errorAnswer(400, 'invalid_request', 'there is no such choice');
      outcomes.choose(charge, choice);
      // A charge that stays pending has no outcome of its own; only this control pays it.
      if (charge.status === 'pending' && charge.behaviour === 'pending')
        outcomes.applyOutcome(charge);
    }
    return null;
  }

  return (name: string, setting: OutcomeToSet): Outcome => {
    const named = charges.withReference(name);
    const found = named.length > 0 ? named : charges.withClientReference(name);
    const isOpen = ({ status }: Charge) =>
      status === 'open' ||
      status === 'pending' ||
      (status === 'abandoned' && setting.outcome === 'paid');
    const open = found.filter(isOpen);
    const charge = open.at(-1) ?? found.at(-1);
    if (!charge) return noSuchCharge();
    if (new Set(open.map(({ order }) => order.reference)).size > 1) {
      return errorAnswer(409, 'ambiguous', 'several charges have this client reference');
    }
    const isUnclear = charge.behaviour === 'unknown_word' && !charge.isClarified;
    if (charge.status === 'paid' && isUnclear && setting.outcome === 'paid') {
      outcomes.clarify(charge);
    } else if (isOpen(charge)) {
      const refusal = decide(charge, setting);
      if (refusal) return refusal;
    } else if (charge.status !== setting.outcome) {
      return errorAnswer(409, 'already_settled', `the charge is already ${charge.status}`);
    }
    return answer(200, presentCharge(charge));
  };
}
