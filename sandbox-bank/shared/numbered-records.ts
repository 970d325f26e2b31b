import type { Behaviour } from './behaviours.js';

/** Something that was ordered, by its number. */
export type NumberedRecord<Order, Status> = {
  number: number;
  order: Order;
  behaviour: Behaviour;
  status: Status;
  code: string | null;
  createdAt: number;
  updatedAt: number;
  /** A callback with the outcome was taken, or the issuer has given up sending it. */
  isNotified: boolean;
};

export function newRecordAt(at: number) {
  return { code: null, createdAt: at, updatedAt: at, isNotified: false };
}

/** Things by number, 0, 1, 2 … A journal that skips one is damaged. */
export function createNumberedRecords<Thing>() {
  const all: (Thing & { number: number })[] = [];
  return {
    all: all as readonly Thing[],
    add(thing: Thing & { number: number }): void {
      if (thing.number !== all.length) throw new Error('the journal misses an order');
      all.push(thing);
    },
    get: (number: number): Thing => {
      const thing = all[number];
      if (!thing) throw new Error('the journal names an order that it does not have');
      return thing;
    },
  };
}

export function addToIndex<Thing>(index: Map<string, Thing[]>, key: string, thing: Thing): void {
  const found = index.get(key);
  if (found) found.push(thing);
  else index.set(key, [thing]);
}
