import { doneAfterMs, reversedAfterMs } from '../shared/behaviours.js';
import type { CardEventName } from '../shared/callback-record.js';
import type { CardFundingRequest, CardRecord } from './records.js';
import type { CardContext } from './context.js';
import { movedMinor, type Funding } from './funding-state.js';

const EVENTS = {
  to_card: {
    pending: 'card.funding_pending',
    funded: 'card.funded',
    refused: 'card.funding_refused',
    reversed: 'card.funding_reversed',
  },
  from_card: {
    pending: 'card.unload_pending',
    funded: 'card.unloaded',
    refused: 'card.unload_refused',
    reversed: 'card.unload_reversed',
  },
} as const satisfies Record<CardFundingRequest['direction'], Record<string, CardEventName>>;

/** Decides fundings and reports their outcomes. */
export type FundingOutcomes = ReturnType<typeof createFundingOutcomes>;

/** Creates the part that decides fundings, now or after the time that their behaviour says. */
export function createFundingOutcomes(parts: CardContext) {
  const { journal, timers } = parts;
  const { fundings } = parts.state;

  function moved(kind: 'funded' | 'funding_reversed', funding: number, at: number): CardRecord {
    return { kind, funding, seq: journal.nextSeq(), at };
  }

  function commitAndNotify(
    funding: Funding,
    outcome: CardRecord,
    name: 'funded' | 'refused' | 'reversed',
  ): void {
    const events = EVENTS[funding.order.direction];
    const isOutOfOrder = funding.behaviour === 'reported_out_of_order';
    journal.commitAndNotify(outcome, {
      about: { funding: funding.number },
      event: events[name],
      at: outcome.at,
      before: isOutOfOrder ? { event: events.pending, at: funding.createdAt } : undefined,
    });
  }

  function applyOutcome(funding: Funding, outcome: 'funded' | 'refused'): void {
    const { number } = funding;
    const at = Date.now();
    if (outcome === 'funded') commitAndNotify(funding, moved('funded', number, at), 'funded');
    else {
      const refused = { kind: 'funding_refused', funding: number, code: 'declined', at } as const;
      commitAndNotify(funding, refused, 'refused');
    }
    scheduleNextOutcome(funding);
  }

  /** Times count from the journal, so a restart neither loses nor prolongs them. */
  function scheduleNextOutcome(funding: Funding): void {
    const { number, status, behaviour, createdAt, updatedAt } = funding;
    const fundAfterMs = status === 'pending' ? doneAfterMs(behaviour) : null;
    const reverseAfterMs = status === 'funded' ? reversedAfterMs(behaviour) : null;
    if (fundAfterMs !== null) {
      timers.after(createdAt + fundAfterMs - Date.now(), () => {
        if (funding.status === 'pending') applyOutcome(funding, 'funded');
      });
    }
    if (reverseAfterMs !== null) {
      timers.after(updatedAt + reverseAfterMs - Date.now(), () => {
        if (funding.status !== 'funded') return;
        const reversed = moved('funding_reversed', number, Date.now());
        commitAndNotify(funding, reversed, 'reversed');
      });
    }
  }

  function undo({ number, status }: Funding): void {
    const at = Date.now();
    if (status === 'funded') journal.commit([moved('funding_reversed', number, at)]);
    if (status !== 'pending') return;
    journal.commit([{ kind: 'funding_refused', funding: number, code: 'cancelled', at }]);
  }

  function takeBack(funding: Funding, partMinor: number | undefined): boolean {
    if (!hasLeft(funding, partMinor)) return false;
    const record = moved('funding_reversed', funding.number, Date.now());
    commitAndNotify(funding, ofPart(record, partMinor), 'reversed');
    return true;
  }

  return {
    /** Makes the record of a movement; commit it in the same turn, because it takes the next effect number. */
    moved,
    /** Schedules the outcome that the funding's behaviour prescribes, if it has one. */
    scheduleNextOutcome,
    /** Decides a pending funding, and calls back. */
    applyOutcome,
    /** Takes back a part of what was moved, or all that is left of it, and calls back. False: there is not so much left. */
    takeBack,
    /** Reverses a completed funding, and refuses a pending one for good. */
    undo,
    /** After a start: schedules the outcomes that were still open at the last stop. */
    resume: (): void => {
      for (const funding of fundings.all) scheduleNextOutcome(funding);
    },
  };
}

/** The record of a reversal of this part. */
const ofPart = (record: CardRecord, partMinor: number | undefined): CardRecord =>
  record.kind === 'funding_reversed' && partMinor !== undefined
    ? { ...record, part_minor: partMinor }
    : record;

/** True if this much of what was moved was not taken back yet; without an amount, if anything was not. */
function hasLeft(funding: Funding, partMinor = 1): boolean {
  const wasMoved = funding.status === 'funded' || funding.status === 'reversed';
  return wasMoved && movedMinor(funding) - funding.takenBackMinor >= partMinor;
}
