import { createHash } from 'node:crypto';
import { isOutcomeWithheld } from '../shared/behaviours.js';
import { createRequestHandler } from '../shared/request-handler.js';
import { answer, errorAnswer, SILENCE, type Outcome } from '../shared/wire.js';
import type { ChargeOutcomes } from './charge-outcomes.js';
import { authorizedChargeRequestKind, chargePageRequestKind } from './charge-kinds.js';
import { isSetup, isUnpaidPage, type Charge } from './charge-state.js';
import type { AcquirerContext } from './context.js';
import type { AuthorizedChargeRequest, ChargePageRequest } from './records.js';
import { takenBack } from './taken-back.js';
import { noSuchCharge, noSuchSetup, presentCharge, presentSetup } from './wire.js';

/** Creates the operations of charges: initialize, charge, look up, revoke. */
export function createCharges(parts: AcquirerContext, outcomes: ChargeOutcomes) {
  const { journal, rules, sendsCallbacks, publicUrl } = parts;
  const { charges } = parts.state;
  const isWithheld = (charge: Charge) =>
    charge.status === 'paid' && isOutcomeWithheld(charge, sendsCallbacks);
  const pageOf = (charge: Charge) => ({ redirect_url: `${publicUrl()}/pay/${charge.accessCode}` });
  const present = (charge: Charge) => ({
    ...presentCharge(charge, {
      isWithheld: isWithheld(charge),
      isReversed: takenBack(parts.state, charge),
    }),
    // The address of a page is in the answer to its request alone.
    ...(charge.status === 'open' && !('channel' in charge.order) && pageOf(charge)),
  });
  const presentPage = (charge: Charge) => ({
    ...(isSetup(charge) ? presentSetup(charge) : present(charge)),
    ...pageOf(charge),
  });
  const find = (reference: string, setup: boolean) =>
    rules.copy.lacks(reference)
      ? undefined
      : decisive(charges.withReference(reference).filter((each) => isSetup(each) === setup));

  /** A request with this reference that is under way to the bank is refused when it arrives. */
  function cancelUnknown(reference: string): Outcome {
    if (!charges.isCancelled(reference)) {
      const record = { kind: 'charge_reference_cancelled', charge_reference: reference } as const;
      journal.commit([{ ...record, at: Date.now() }]);
    }
    return answer(200, { reference, status: 'cancelled' });
  }

  return {
    initialize: createInitialize(parts, presentPage),
    ...createAuthorizedCharges(parts, outcomes, present),
    lookup(reference: string): Outcome {
      const charge = find(reference, false);
      return charge ? answer(200, present(charge)) : noSuchCharge();
    },
    lookupSetup(reference: string): Outcome {
      const setup = find(reference, true);
      return setup ? answer(200, presentSetup(setup)) : noSuchSetup();
    },
    /** Ends a charge that nobody has paid. One that is paid, or is being paid, stays as it is. */
    cancel(reference: string): Outcome {
      const charge = find(reference, false);
      if (!charge) return rules.fences ? cancelUnknown(reference) : noSuchCharge();
      if (isUnpaidPage(charge)) outcomes.leave(charge, 'cancelled');
      return answer(200, present(charge));
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
      if (!authorization) return noSuchAuthorization();
      if (!authorization.revoked) {
        const charge = authorization.by;
        const seq = journal.nextSeq();
        journal.commit([{ kind: 'authorization_revoked', charge, seq, at: Date.now() }]);
      }
      return answer(200, { authorization: code, revoked: true });
    },
  };
}

/** Charges without the customer: their preparation, which moves nothing, and the charge itself. */
function createAuthorizedCharges(
  parts: AcquirerContext,
  outcomes: ChargeOutcomes,
  present: (charge: Charge) => unknown,
) {
  const { charges } = parts.state;
  const execute = createRequestHandler(
    authorizedChargeRequestKind(parts, outcomes, present),
    parts.rules,
  );
  return {
    /** The preparation of an authorization is the same for each of its charges. */
    prepare({ authorization: code }: { authorization: string }): Outcome {
      return charges.authorization(code)
        ? answer(201, { preparation: preparationOf(code) })
        : noSuchAuthorization();
    },
    charge({
      preparation,
      ...order
    }: AuthorizedChargeRequest & { preparation?: string | undefined }): Outcome {
      if (charges.isCancelled(order.reference)) return cancelled();
      if (preparation !== undefined && preparation !== preparationOf(order.authorization)) {
        return errorAnswer(
          422,
          'unknown_preparation',
          'not executed: there is no such preparation',
        );
      }
      return execute(order);
    },
  };
}

/** The id of the preparation of an authorization. */
const preparationOf = (code: string) =>
  `prp_${createHash('sha256').update(code).digest('hex').slice(0, 16)}`;

const cancelled = (): Outcome =>
  errorAnswer(409, 'cancelled', 'not executed: the reference was cancelled');

const noSuchAuthorization = (): Outcome =>
  errorAnswer(404, 'authorization_not_found', 'there is no such authorization');

/** A page moves no money, so one reference always makes one page, even without de-duplication. */
function createInitialize(parts: AcquirerContext, present: (charge: Charge) => unknown) {
  const { charges } = parts.state;
  const open = createRequestHandler(chargePageRequestKind(parts, present), {
    ...parts.rules,
    deduplicate: true,
    deduplicateForMs: null,
  });
  return (order: ChargePageRequest): Outcome => {
    if (charges.isCancelled(order.reference)) return cancelled();
    if (parts.pages === 'new_reference' && charges.withReference(order.reference).length > 0) {
      return errorAnswer(409, 'reference_taken', 'the address of this page was given');
    }
    const isFirst = charges.withClientReference(order.client_reference).length === 0;
    const outcome = open(order);
    return isFirst && charges.behaviourOf(order) === 'paid_twice' ? SILENCE : outcome;
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
