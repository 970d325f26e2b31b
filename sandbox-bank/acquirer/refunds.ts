import { randomBytes } from 'node:crypto';
import { isExecutedAtOnce, isOutcomeWithheld } from '../shared/behaviours.js';
import { createRequestHandler, type RequestKind } from '../shared/request-handler.js';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';
import { LISTED_AFTER_MS, refundBehaviour } from './behaviours.js';
import { decisive } from './charges.js';
import type { AcquirerContext } from './context.js';
import type { AcquirerRecord, RefundRequest } from './records.js';
import type { RefundOutcomes } from './refund-outcomes.js';
import type { Refund } from './refund-state.js';
import { noSuchCharge, presentRefund } from './wire.js';

/** Creates the operations of refunds: request, list, set the outcome. */
export function createRefunds(parts: AcquirerContext, outcomes: RefundOutcomes) {
  const { rules, sendsCallbacks, journal } = parts;
  const { charges, refunds } = parts.state;
  const present = (refund: Refund) => {
    const isWithheld = refund.status === 'refunded' && isOutcomeWithheld(refund, sendsCallbacks);
    return presentRefund(refund, isWithheld);
  };
  // As at real acquirers, each accepted request refunds again; only the age limit rejects a late repeat.
  const take = createRequestHandler(refundRequestKind(parts, outcomes, present), {
    ...rules,
    deduplicate: false,
  });

  return {
    refund: (order: RefundRequest): Outcome =>
      charges.withReference(order.charge).length > 0 ? take(order) : noSuchCharge(),
    /** A page of all refunds since a time, oldest first; of every charge, as real acquirers list them. */
    list({ charge, since, after }: { charge: string; since: string; after: number }): Outcome {
      if (charges.withReference(charge).length === 0) return noSuchCharge();
      const page = refunds.all
        .slice(after)
        .filter((refund) => refund.createdAt >= Date.parse(since))
        .slice(0, PAGE);
      const last = page.at(-1)?.number ?? refunds.all.length;
      const shown = page
        .filter(({ order }) => !rules.copy.lacks(order.merchant_note))
        .filter((refund) => isListed(refund))
        .map(present);
      const next = last + 1 < refunds.all.length ? String(last + 1) : null;
      return answer(200, { refunds: shown, next });
    },
    /** Takes the account of a customer for a refund that waits for it, and refunds. */
    giveAccount(id: string): Outcome {
      const refund = refunds.named(id).find((each) => each.id === id);
      if (!refund) return errorAnswer(404, 'refund_not_found', 'there is no such refund');
      if (refund.status === 'needs_account') {
        const about = { refund: refund.number, at: Date.now() };
        journal.commit([{ kind: 'refund_has_account', ...about }]);
        outcomes.applyOutcome(refund, 'refunded');
      } else if (refund.status !== 'refunded' && refund.status !== 'pending') {
        return errorAnswer(422, 'not_waiting', 'the refund does not wait for an account');
      }
      return answer(200, present(refund));
    },
    /** Decides a pending refund, for tests, or lets a completed one fail; finds it by id, note or client reference. */
    setOutcome(name: string, outcome: 'refunded' | 'failed'): Outcome {
      const named = refunds.named(name);
      const pending = named.filter(
        ({ status }) => status === 'pending' || status === 'needs_account',
      );
      if (pending.length > 1) {
        return errorAnswer(409, 'ambiguous', 'several pending refunds have this name');
      }
      const refund = pending[0] ?? named.at(-1);
      if (!refund) return errorAnswer(404, 'refund_not_found', 'there is no such refund');
      const wanted = outcome === 'refunded' ? 'refunded' : 'refused';
      if (pending.length === 1) outcomes.applyOutcome(refund, wanted);
      else if (refund.status === 'refunded' && wanted === 'refused') {
        outcomes.applyOutcome(refund, 'returned');
      } else if (
        refund.status !== wanted &&
        (outcome === 'refunded' || refund.status !== 'returned')
      ) {
        return errorAnswer(409, 'already_settled', `the refund is already ${refund.status}`);
      }
      return answer(200, presentRefund(refund));
    },
  };
}

const PAGE = 100;

/** A refund that is listed later is absent from the list at first. */
const isListed = ({ behaviour, createdAt }: Refund): boolean =>
  behaviour !== 'listed_later' || Date.now() - createdAt >= LISTED_AFTER_MS;

/** Describes refunds to the request handler. */
function refundRequestKind(
  { state: { charges, refunds }, journal }: AcquirerContext,
  outcomes: RefundOutcomes,
  present: (refund: Refund) => unknown,
): RequestKind<RefundRequest, Refund> {
  function refusalOf(order: RefundRequest): string | null {
    const charge = decisive(charges.withReference(order.charge));
    if (charge?.status !== 'paid') return 'charge_not_paid';
    const taken = refunds.ofCharge(order.charge).filter(({ status }) => status !== 'refused');
    const takenMinor = taken.reduce((sum, refund) => sum + refund.order.amount_minor, 0);
    if (takenMinor + order.amount_minor > (charge.paidMinor ?? 0)) return 'exceeds_charge';
    const behaviour = refundBehaviour(order.client_reference);
    return behaviour === 'refused' ? 'refund_refused' : null;
  }

  return {
    what: 'refund',
    find: () => undefined,
    isSame: () => false,
    behaviourOf: ({ client_reference }) => refundBehaviour(client_reference),
    keyOf: ({ charge, merchant_note }) => `refund/${charge}/${merchant_note}`,
    accept(order, at) {
      const number = refunds.all.length;
      const id = `rfnd_${randomBytes(10).toString('hex')}`;
      const refusal = refusalOf(order);
      const outcome: AcquirerRecord[] = [];
      if (refusal !== null) {
        outcome.push({ kind: 'refund_refused', refund: number, code: refusal, at });
      } else if (refundBehaviour(order.client_reference) === 'needs_account') {
        outcome.push({ kind: 'refund_needs_account', refund: number, at });
      } else if (isExecutedAtOnce(refundBehaviour(order.client_reference))) {
        outcome.push(outcomes.refunded(number, at));
      }
      journal.commit([{ kind: 'refund_ordered', refund: number, id, order, at }, ...outcome]);
      const refund = refunds.get(number);
      outcomes.scheduleNextOutcome(refund);
      return refund;
    },
    present,
  };
}
