import { randomBytes } from 'node:crypto';
import { doneAfterMs, isDoneAtOnce } from '../behaviours.js';
import { paidMinor } from './behaviours.js';
import type { Charge } from './charge-state.js';
import type { Choice } from './payment-methods.js';
import type { NetworkParts } from './context.js';
import type { Decline, NetworkEventName, NetworkRecord } from './records.js';

export type ChargeBooks = ReturnType<typeof createChargeBooks>;

/** What becomes of charges. */
export function createChargeBooks({ state, journal, timers }: NetworkParts) {
  const { charges } = state;

  function commitAndTell(charge: Charge, outcome: NetworkRecord, event: NetworkEventName): void {
    const isOutOfOrder = charge.behaviour === 'told_out_of_order';
    journal.commitAndTell(outcome, {
      about: { charge: charge.number },
      event,
      at: outcome.at,
      before: isOutOfOrder ? { event: 'charge.pending', at: charge.updatedAt } : undefined,
    });
  }

  /** The record of a payment that happens now; commit it in the same turn. */
  function charged(
    charge: Pick<Charge, 'number' | 'order' | 'behaviour'>,
    choice: Choice | null,
    at: number,
  ): NetworkRecord {
    const amount_minor = paidMinor(charge.behaviour, charge.order.amount_minor);
    const isPage = !('authorization' in charge.order);
    const granted =
      isPage && choice ? { authorization: newAuthorization(), choice: choice.id } : null;
    const seq = journal.nextSeq();
    return { kind: 'charged', charge: charge.number, seq, amount_minor, granted, at };
  }

  function pay(charge: Charge, choice: Choice | null): void {
    commitAndTell(charge, charged(charge, choice, Date.now()), 'charge.paid');
  }

  function decline(charge: Charge, how: Decline): void {
    const { number } = charge;
    const declined = { kind: 'charge_declined', charge: number, decline: how } as const;
    commitAndTell(charge, { ...declined, at: Date.now() }, 'charge.declined');
  }

  /** The times count from the journal, so that a restart neither loses nor prolongs them. */
  function scheduleWhatIsDue(charge: Charge): void {
    const payAfterMs = charge.status === 'pending' ? doneAfterMs(charge.behaviour) : null;
    if (payAfterMs === null) return;
    timers.after(charge.updatedAt + payAfterMs - Date.now(), () => {
      if (charge.status === 'pending') pay(charge, charge.choice);
    });
  }

  return {
    charged,
    /** Plans what the table says will happen to this charge by itself. */
    scheduleWhatIsDue,
    /** Pays a charge that the network took its time with, and calls back. So do those below. */
    settle: (charge: Charge): void => pay(charge, charge.choice),
    decline,
    abandon(charge: Charge): void {
      const abandoned = {
        kind: 'charge_abandoned',
        charge: charge.number,
        at: Date.now(),
      } as const;
      commitAndTell(charge, abandoned, 'charge.abandoned');
    },
    /** The customer has chosen what to pay with. */
    choose(charge: Charge, choice: Choice): void {
      if (choice.declines) return decline(charge, choice.declines);
      if (isDoneAtOnce(charge.behaviour)) return pay(charge, choice);
      const chosen = { kind: 'charge_chosen', charge: charge.number, choice: choice.id } as const;
      journal.commit([{ ...chosen, at: Date.now() }]);
      scheduleWhatIsDue(charge);
    },
    /** After a start: takes up what was left undone at the last stop. */
    resume(): void {
      for (const charge of charges.all) scheduleWhatIsDue(charge);
    },
  };
}

function newAuthorization(): string {
  return `authz_${randomBytes(16).toString('hex')}`;
}
