import type { Behaviour } from './behaviours.js';

/** Something that a client requested, by its number. */
export type NumberedRecord<Order, Status> = {
  number: number;
  order: Order;
  behaviour: Behaviour;
  status: Status;
  code: string | null;
  createdAt: number;
  updatedAt: number;
  /** A callback with the outcome was accepted by the client, or the bank has stopped sending it. */
  isNotified: boolean;
};

/** The initial fields of a record that is created at this time. */
export function newRecordAt(at: number) {
  return { code: null, createdAt: at, updatedAt: at, isNotified: false };
}

/** Holds records by number, 0, 1, 2 … Throws if the journal skips one. */
export function createNumberedRecords<Thing>() {
  const all: (Thing & { number: number })[] = [];
  return {
    all: all as readonly Thing[],
    add(thing: Thing & { number: number }): void {
      if (thing.number !== all.length) throw new Error('the journal misses a request');
      all.push(thing);
    },
    get: (number: number): Thing => {
      const thing = all[number];
      if (!thing) throw new Error('the journal names a request that it does not have');
      return thing;
    },
  };
}

/** Appends to the list under the key. */
export function addToIndex<Thing>(index: Map<string, Thing[]>, key: string, thing: Thing): void {
  const found = index.get(key);
  if (found) found.push(thing);
  else index.set(key, [thing]);
}
