/** An order of a client, as it is found. */
type Order = { number: number; order: { reference: string } };

/** The kinds of orders, which begin their ids. */
type OrderKind = 'card-order' | 'funding' | 'dispute';

/** The names by which clients find their orders: their own references, or the issuer's ids alone. */
export type OrderLookup = ReturnType<typeof createOrderLookup>;

/** Creates the look-up of orders. */
export const createOrderLookup = (by: 'reference' | 'id') => ({
  /** The reference of the order that a client names; null if there is none. */
  referenceOf(kind: OrderKind, name: string, all: readonly Order[]): string | null {
    if (by === 'reference') return name;
    return all.find(({ number }) => idOf(kind, number) === name)?.order.reference ?? null;
  },

  /** An answer about an order, with the id that the client needs. */
  named: <Answer extends object>(kind: OrderKind, { number }: Order, shown: Answer) =>
    by === 'reference' ? shown : { id: idOf(kind, number), ...shown },
});

const idOf = (kind: OrderKind, number: number) => `${kind}-${number}`;
