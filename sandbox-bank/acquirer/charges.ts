import { isOutcomeWithheld } from '../shared/behaviours.js';
import { createRequestHandler } from '../shared/request-handler.js';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';
import type { ChargeOutcomes } from './charge-outcomes.js';
import { authorizedChargeRequestKind, chargePageRequestKind } from './charge-kinds.js';
import type { Charge } from './charge-state.js';
import type { AcquirerContext } from './context.js';
import { noSuchCharge, presentCharge } from './wire.js';

/** Creates the operations of charges: initialize, charge, look up, revoke. */
export function createCharges(parts: AcquirerContext, outcomes: ChargeOutcomes) {
  const { journal, rules, sendsCallbacks, publicUrl } = parts;
  const { charges } = parts.state;
  const isWithheld = (charge: Charge) =>
    charge.status === 'paid' && isOutcomeWithheld(charge, sendsCallbacks);
  const present = (charge: Charge) => presentCharge(charge, isWithheld(charge));
  const presentPage = (charge: Charge) => ({
    ...present(charge),
    redirect_url: `${publicUrl()}/pay/${charge.accessCode}`,
  });

  return {
    /** A page moves no money, so one reference always makes one page, even without de-duplication. */
    initialize: createRequestHandler(chargePageRequestKind(parts, presentPage), {
      ...rules,
      deduplicate: true,
      deduplicateForMs: null,
    }),
    charge: createRequestHandler(authorizedChargeRequestKind(parts, outcomes, present), rules),
    lookup(reference: string): Outcome {
      if (rules.copy.lacks(reference)) return noSuchCharge();
      const charge = decisive(charges.withReference(reference));
      return charge ? answer(200, present(charge)) : noSuchCharge();
    },
    /** Tells the fee of a paid charge, found by its own or by the client's reference. */
    tellFee(name: string, fee: number): Outcome {
      const charge =
        decisive(charges.withReference(name)) ?? charges.withClientReference(name).at(-1);
      if (charge?.status !== 'paid') return noSuchCharge();
      outcomes.tellFee(charge, fee);
      return answer(200, presentCharge(charge));
    },
    /** A repeat has no further effect. */
    revoke(code: string): Outcome {
      const authorization = charges.authorization(code);
      if (!authorization) {
        return errorAnswer(404, 'authorization_not_found', 'there is no such authorization');
      }
      if (!authorization.revoked) {
        const charge = authorization.by;
        const seq = journal.nextSeq();
        journal.commit([{ kind: 'authorization_revoked', charge, seq, at: Date.now() }]);
      }
      return answer(200, { authorization: code, revoked: true });
    },
  };
}

/** Selects among charges with one reference: a paid one, because a later outcome does not undo an earlier payment. */
export function decisive(all: readonly Charge[]): Charge | undefined {
  return (
    all.findLast(({ status }) => status === 'paid') ??
    all.findLast(({ status }) => status === 'pending') ??
    all.at(-1)
  );
}
