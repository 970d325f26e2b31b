import type { Reads, UnitOfWork } from './unit-of-work.js';

/** What every item names: whose it is, and for some also which record. */
export type MutationInput = { tenantId: string; id?: string };

/** A kind of item: what it reads, and the rules by which it is decided. Pure; lanes and transactions are not its own. */
export type Mutation<I extends MutationInput, O> = {
  /**
   * `complete`: an earlier try may have been committed without our knowing, or something was taken that a first try had not
   * looked at. A first try may leave out what a unique index holds anyway, if `decide` calls `View.mustHaveRead`
   * wherever it answers without writing to that index.
   */
  reads(item: I, fullRead: boolean): Reads;
  decide(uow: UnitOfWork, item: I, now: Date): O;
  /** It moves nothing in the wallet's document, so it must not compete with acceptance for it. */
  leavesWallet?(item: I): boolean;
  /** Bytes that it will write, roughly. */
  weigh?(item: I): number;
  /** So long a piece of work that it has to own its wallet from the beginning. */
  long?: boolean;
};
