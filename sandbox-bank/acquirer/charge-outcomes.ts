import { randomBytes } from 'node:crypto';
import { doneAfterMs, isExecutedAtOnce } from '../shared/behaviours.js';
import { FEE_AFTER_MS, feeMinor, paidMinor } from './behaviours.js';
import { isSetup, type Charge } from './charge-state.js';
import type { PaymentMethod } from './payment-methods.js';
import type { AcquirerContext } from './context.js';
import type { AcquirerEventName } from '../shared/callback-record.js';
import type { Decline, AcquirerRecord } from './records.js';

/** Decides charges and reports their outcomes. */
export type ChargeOutcomes = ReturnType<typeof createChargeOutcomes>;

/** Commits an outcome of a charge, and reports it. */
function commitAndNotify(
  journal: AcquirerContext['journal'],
  charge: Charge,
  outcome: AcquirerRecord,
  event: AcquirerEventName,
): void {
  const isOutOfOrder = charge.behaviour === 'reported_out_of_order';
  if (charge.behaviour === 'unknown_word') return journal.commit([outcome]);
  journal.commitAndNotify(outcome, {
    about: { charge: charge.number },
    event,
    at: outcome.at,
    before: isOutOfOrder ? { event: 'charge.pending', at: charge.updatedAt } : undefined,
  });
}

/** Creates the decline that leaves a page open. Returns false if the page is over with a decline. */
const createPageDecline =
  ({ journal }: Pick<AcquirerContext, 'journal'>) =>
  ({ number: charge, behaviour }: Charge, decline: Decline): boolean => {
    if (behaviour !== 'declined_first') return false;
    journal.commit([{ kind: 'page_declined', charge, decline, at: Date.now() }]);
    return true;
  };

/** Creates the part that tells the fees of payments. */
function createFees({ journal, timers }: Pick<AcquirerContext, 'journal' | 'timers'>) {
  /** Tells the fee of a payment, and reports the payment again. */
  function tellFee({ number }: Charge, fee_minor: number): void {
    const at = Date.now();
    const record = { kind: 'fee_told', charge: number, fee_minor, at } as const;
    journal.commitAndNotify(record, { about: { charge: number }, event: 'charge.paid', at });
  }

  function scheduleFee(charge: Charge): void {
    const { status, behaviour, feeMinor: known, paidMinor: paid } = charge;
    if (status !== 'paid' || behaviour !== 'fee_later' || known !== null) return;
    timers.after(charge.updatedAt + FEE_AFTER_MS - Date.now(), () => {
      if (charge.feeMinor === null) tellFee(charge, feeMinor(paid ?? 0));
    });
  }

  return { tellFee, scheduleFee };
}

/** Creates the ends of charges in which nothing is paid, and what the acquirer says about them later. */
function createOtherEnds({ journal }: Pick<AcquirerContext, 'journal'>) {
  /** Ends an open charge, or notes that nobody pays it at present. */
  function leave(charge: Charge, how: 'abandoned' | 'cancelled'): void {
    const left = { kind: `charge_${how}`, charge: charge.number, at: Date.now() } as const;
    const event = isSetup(charge) ? 'setup.cancelled' : (`charge.${how}` as const);
    commitAndNotify(journal, charge, left, event);
  }

  /** Says what the unknown word of a paid charge means. */
  function clarify({ number }: Charge): void {
    const at = Date.now();
    const record = { kind: 'charge_clarified', charge: number, at } as const;
    journal.commitAndNotify(record, { about: { charge: number }, event: 'charge.paid', at });
  }

  /** Saves the payment method of a setup. Nothing is paid. */
  function save(charge: Charge, choice: PaymentMethod): void {
    const granted = { authorization: newAuthorization(), choice: choice.id };
    const saved = { kind: 'setup_saved', charge: charge.number, granted, at: Date.now() } as const;
    commitAndNotify(journal, charge, saved, 'setup.saved');
  }

  return { leave, clarify, save };
}

/** Creates the part that decides charges, now or after the time that their behaviour says. */
export function createChargeOutcomes(
  { state, journal, timers }: AcquirerContext,
  afterPayment: (charge: Charge) => void,
) {
  const { tellFee, scheduleFee } = createFees({ journal, timers });
  const leaveOpen = createPageDecline({ journal });
  const { leave, clarify, save } = createOtherEnds({ journal });

  /** Makes the record of a payment; commit it in the same turn, because it takes the next effect number. */
  function charged(
    charge: Pick<Charge, 'number' | 'order' | 'behaviour'>,
    choice: PaymentMethod | null,
    at: number,
  ): AcquirerRecord {
    const amount_minor = paidMinor(charge.behaviour, charge.order.amount_minor);
    const isPage = !('authorization' in charge.order);
    const granted =
      isPage && choice ? { authorization: newAuthorization(), choice: choice.id } : null;
    const seq = journal.nextSeq();
    return { kind: 'charged', charge: charge.number, seq, amount_minor, granted, at };
  }

  function pay(charge: Charge, choice: PaymentMethod | null): void {
    commitAndNotify(journal, charge, charged(charge, choice, Date.now()), 'charge.paid');
    scheduleFee(charge);
    afterPayment(charge);
  }

  function decline(charge: Charge, how: Decline): void {
    const { number } = charge;
    const declined = { kind: 'charge_declined', charge: number, decline: how } as const;
    const event = isSetup(charge) ? 'setup.declined' : 'charge.declined';
    commitAndNotify(journal, charge, { ...declined, at: Date.now() }, event);
  }

  /** Times count from the journal, so a restart neither loses nor prolongs them. */
  function scheduleNextOutcome(charge: Charge): void {
    scheduleFee(charge);
    afterPayment(charge);
    const { status, behaviour } = charge;
    const isRedirected = status === 'open' && behaviour === 'redirected';
    const payAfterMs = status === 'pending' ? doneAfterMs(behaviour) : isRedirected ? 2_000 : null;
    if (payAfterMs === null) return;
    timers.after(charge.updatedAt + payAfterMs - Date.now(), () => {
      if (charge.status === status) pay(charge, charge.choice);
    });
  }

  return {
    charged,
    /** Schedules the outcome that the charge's behaviour prescribes, if it has one. */
    scheduleNextOutcome,
    /** Pays a charge that was left pending, and calls back. The functions below call back, too. */
    applyOutcome: (charge: Charge): void => pay(charge, charge.choice),
    decline,
    tellFee,
    leave,
    clarify,
    /** The customer has chosen a payment method. */
    choose(charge: Charge, choice: PaymentMethod): void {
      if (choice.declines) {
        return leaveOpen(charge, choice.declines) ? undefined : decline(charge, choice.declines);
      }
      if (isSetup(charge)) return save(charge, choice);
      if (isExecutedAtOnce(charge.behaviour)) return pay(charge, choice);
      const chosen = { kind: 'charge_chosen', charge: charge.number, choice: choice.id } as const;
      journal.commit([{ ...chosen, at: Date.now() }]);
      scheduleNextOutcome(charge);
    },
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume(): void {
      for (const charge of state.charges.all) scheduleNextOutcome(charge);
    },
  };
}

function newAuthorization(): string {
  return `authz_${randomBytes(16).toString('hex')}`;
}
