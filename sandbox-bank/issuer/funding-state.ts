import { fundingBehaviour } from './behaviours.js';
import type { CardRecord, CardFundingRequest } from './records.js';
import type { JournalEffects } from '../shared/journal-effects.js';
import {
  addToIndex,
  createNumberedRecords,
  newRecordAt,
  type NumberedRecord,
} from '../shared/numbered-records.js';

/** A card funding as replayed from the journal. */
export type Funding = NumberedRecord<
  CardFundingRequest,
  'pending' | 'funded' | 'refused' | 'reversed'
> & {
  /** The amount that was taken back, of which there may be more. */
  takenBackMinor: number;
};

/** The amount that a funding moves: half of it, rounded up, if its behaviour says so. */
export const movedMinor = ({
  order: { amount_minor: asked },
  behaviour,
}: Pick<Funding, 'order' | 'behaviour'>): number =>
  behaviour === 'another_amount' ? Math.ceil(asked / 2) : asked;

/** The amount that the issuer names for its state: what it moved, or what it has taken back of that so far. */
export const reportedMinor = (funding: Funding): number =>
  funding.status === 'reversed' ? funding.takenBackMinor : movedMinor(funding);

const EFFECTS = {
  to_card: ['funded', 'funding_reversed'],
  from_card: ['unloaded', 'unload_reversed'],
} as const;

/** Holds the issuer's fundings. Only `apply` changes them. */
export function createFundingState(effects: JournalEffects) {
  const fundings = createNumberedRecords<Funding>();
  const byReference = new Map<string, Funding[]>();
  const byClientReference = new Map<string, Funding[]>();

  function add(number: number, order: CardFundingRequest, at: number): void {
    const behaviour = fundingBehaviour(order.client_reference);
    fundings.add({
      number,
      order,
      behaviour,
      status: 'pending',
      takenBackMinor: 0,
      ...newRecordAt(at),
    });
    addToIndex(byReference, order.reference, fundings.get(number));
    addToIndex(byClientReference, order.client_reference, fundings.get(number));
  }

  return {
    all: fundings.all,
    get: fundings.get,
    /** Oldest first; more than one only if the issuer does not de-duplicate. */
    withReference: (reference: string): readonly Funding[] => byReference.get(reference) ?? [],
    withClientReference: (reference: string): readonly Funding[] =>
      byClientReference.get(reference) ?? [],
    apply(record: Extract<CardRecord, { funding: number }>): void {
      if (record.kind === 'funding_ordered') return add(record.funding, record.order, record.at);
      const funding = fundings.get(record.funding);
      funding.updatedAt = record.at;
      if (record.kind === 'funding_refused') {
        Object.assign(funding, { status: 'refused', code: record.code });
        return;
      }
      const { seq, at } = record;
      const isDone = record.kind === 'funded';
      const leftMinor = movedMinor(funding) - funding.takenBackMinor;
      const amountMinor = isDone ? leftMinor : (record.part_minor ?? leftMinor);
      if (!isDone) funding.takenBackMinor += amountMinor;
      funding.status = isDone ? 'funded' : 'reversed';
      const { reference, client_reference, card, currency, direction } = funding.order;
      const about = { reference, client_reference, card, currency };
      const kind = EFFECTS[direction][isDone ? 0 : 1];
      effects.add({ seq, kind, ...about, amount_minor: amountMinor, session_id: null, at });
    },
  };
}
