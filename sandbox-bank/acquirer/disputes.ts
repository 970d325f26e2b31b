import { randomBytes } from 'node:crypto';
import { answer, errorAnswer, type Outcome } from '../shared/wire.js';
import { NEXT_AFTER_MS } from './behaviours.js';
import type { Charge } from './charge-state.js';
import { decisive } from './charges.js';
import type { AcquirerContext } from './context.js';
import type { Dispute } from './dispute-state.js';
import { noSuchCharge, presentDispute } from './wire.js';

/** Disputes on one page of the list of all. */
const PAGE = 50;

/** A dispute that is opened, or decided. */
type Setting = {
  outcome: 'opened' | 'won' | 'lost';
  amount_minor?: number | undefined;
  funds?: 'held' | 'taken' | undefined;
};

/** Creates the disputes of charges: opened and decided by behaviour or by a test, and listed. */
export function createDisputes({ state, journal, timers }: AcquirerContext) {
  const { charges, disputes } = state;

  function open(charge: Charge, amountMinor: number, funds: 'held' | 'taken'): Dispute {
    const dispute = disputes.all.length;
    const at = Date.now();
    const { reference, client_reference } = charge.order;
    const record = {
      kind: 'disputed',
      dispute,
      seq: journal.nextSeq(),
      id: `case_${randomBytes(10).toString('hex')}`,
      of: reference,
      client_reference,
      amount_minor: amountMinor,
      funds,
      at,
    } as const;
    journal.commitAndNotify(record, { about: { dispute }, event: 'charge.disputed', at });
    return disputes.get(dispute);
  }

  function decide({ number: dispute }: Dispute, outcome: 'won' | 'lost'): void {
    const at = Date.now();
    const record = { kind: `dispute_${outcome}`, dispute, seq: journal.nextSeq(), at } as const;
    const event = `charge.dispute_${outcome}` as const;
    journal.commitAndNotify(record, { about: { dispute }, event, at });
  }

  /** Decides the dispute of a charge whose behaviour says how it ends. */
  function scheduleDecision(charge: Charge, dispute: Dispute): void {
    const outcome = DECISIONS.get(charge.behaviour);
    if (!outcome) return;
    timers.after(dispute.createdAt + NEXT_AFTER_MS - Date.now(), () => {
      if (dispute.status === 'opened') decide(dispute, outcome);
    });
  }

  return {
    /** Opens and decides the dispute of a paid charge, as its behaviour says. */
    schedule(charge: Charge): void {
      const isDisputed = charge.behaviour === 'disputed' || DECISIONS.has(charge.behaviour);
      if (charge.status !== 'paid' || !isDisputed) return;
      const [known] = disputes.ofCharge(charge.order.reference);
      if (known) return scheduleDecision(charge, known);
      timers.after(charge.updatedAt + NEXT_AFTER_MS - Date.now(), () => {
        if (disputes.ofCharge(charge.order.reference).length > 0) return;
        const funds = charge.behaviour === 'disputed' ? 'taken' : 'held';
        scheduleDecision(charge, open(charge, charge.paidMinor ?? 0, funds));
      });
    },
    list: (charge: string): Outcome =>
      charges.withReference(charge).length > 0
        ? answer(200, { charge, disputes: disputes.ofCharge(charge).map(presentDispute) })
        : noSuchCharge(),
    listAll: (wanted: Wanted): Outcome => answer(200, pageOf(disputes.all, wanted)),
    /** Opens a dispute of a paid charge for a test, or decides the one that is open. */
    set(name: string, { outcome, amount_minor: amountMinor, funds }: Setting): Outcome {
      const charge =
        decisive(charges.withReference(name)) ??
        charges.withClientReference(name).findLast(({ status }) => status === 'paid');
      if (charge?.status !== 'paid') return noSuchCharge();
      const known = disputes.ofCharge(charge.order.reference);
      if (outcome === 'opened') {
        const minor = amountMinor ?? charge.paidMinor ?? 0;
        return answer(200, presentDispute(open(charge, minor, funds ?? 'held')));
      }
      const dispute = known.find(({ status }) => status === 'opened') ?? known.at(-1);
      if (!dispute) return errorAnswer(404, 'dispute_not_found', 'the charge is not disputed');
      if (dispute.status === 'opened') decide(dispute, outcome);
      else if (dispute.status !== outcome) {
        return errorAnswer(409, 'already_settled', `the dispute is already ${dispute.status}`);
      }
      return answer(200, presentDispute(dispute));
    },
  };
}

type Wanted = { from: string; to: string; after: number };

/** A page of the disputes of all charges that were opened in a window, oldest first. */
function pageOf(all: readonly Dispute[], { from, to, after }: Wanted) {
  const page = all
    .slice(after)
    .filter(({ createdAt }) => createdAt >= Date.parse(from) && createdAt <= Date.parse(to))
    .slice(0, PAGE);
  const last = page.at(-1)?.number ?? all.length;
  const next = last + 1 < all.length ? String(last + 1) : null;
  return { disputes: page.map(presentDispute), next };
}

const DECISIONS = new Map<string, 'won' | 'lost'>([
  ['dispute_won', 'won'],
  ['dispute_lost', 'lost'],
]);
