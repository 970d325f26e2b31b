import type { Document } from 'mongodb';
import type { Port, PortEvents } from '../providers/registry.js';
import type { FactSource } from '../instructions/fact.js';
import { opaqueId } from '../../shared/card-data.js';
import type { ProviderEvent, ProviderEventOwner, StoredFact } from './event.js';

/** A fact of a provider's event in our terms, before it is stored. */
export type NewFact = Omit<StoredFact, 'sealed'> & {
  /** Stored sealed, and forgotten once the fact is applied. */
  secret?: Document | null;
};

/** A stored fact with its secret, as a handler applies it. */
export type OpenFact = Omit<StoredFact, 'sealed'> & { secret: Document | null };

/** The result of applying a fact. */
export type Applied =
  /** `outcome`: the verdict of the record's transition, or that the fact changes nothing. */
  | { kind: 'applied'; outcome: string }
  /** There is no such record, so far. `ends`: the status of the event if none comes. */
  | { kind: 'unknown'; reason: string; ends: 'processed' | 'ignored' | 'failed' };

/**
 * A capability's part in the pipeline of provider events. Repeats and any order of arrival must end in the same ledger, so
 * `apply` leaves every decision to the transition of its record.
 */
export type ProviderEventHandler = {
  port: Port;
  /** The subjects of the facts that `apply` takes. No other handler has one of them. */
  subjects: readonly string[];
  /** The facts of an event of this port; none if it is about another capability's records. */
  toFacts(event: PortEvents[Port]): NewFact[];
  /** The tenant and card whose list of events has this one. Read before the event is stored; absent where no list has it. */
  findOwner?(provider: string, fact: StoredFact): Promise<ProviderEventOwner | null>;
  /** Applies a fact to its record and notifies the record's workflow. Throws only if it could not be applied now. */
  apply(fact: OpenFact, event: ProviderEvent): Promise<Applied>;
};

/**
 * A reference as a fact is stored with it: in the open if it is an id that cannot be a card number. Otherwise `open` is null,
 * and a capability whose records have such references adds `secret` to the secret of its fact.
 */
export function splitReference(reference: string | null) {
  const open = opaqueId(reference);
  return { open, secret: open === null && reference !== null ? { reference } : {} };
}

/** The source of an event's facts, for timelines. */
export const sourceOf = ({ _id, provider }: Pick<ProviderEvent, '_id' | 'provider'>) =>
  ({ via: 'webhook', actor: provider, providerRequestId: _id, note: null }) satisfies FactSource;

/** The fact was applied, or changed nothing. */
export const applied = (outcome: string) => ({ kind: 'applied', outcome }) satisfies Applied;

/** The fact could have no effect on any record. */
export const NOTHING_TO_APPLY = applied('nothing_to_apply');

/** No record has this reference. Only where money has moved must an operator find out why. */
export const unknownReference = (moneyMoved: boolean): Applied => ({
  kind: 'unknown',
  reason: 'unknown_reference',
  ends: moneyMoved ? 'failed' : 'ignored',
});
