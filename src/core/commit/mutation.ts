import type { Reads, UnitOfWork } from './unit-of-work.js';

/** The tenant whose wallet a mutation may change, and for some mutations the record that it is about. */
export type MutationInput = { tenantId: string; id?: string };

/** A named write: the data that it reads, and its rules. Pure: it knows neither lanes nor transactions. */
export type Mutation<I extends MutationInput = MutationInput, R = unknown> = {
  /**
   * `full` is true if an earlier try may have been committed without an answer, or if a key or a reference was taken that
   * a first try had not read. A first try may leave out data that a unique index protects anyway, if `decide` calls
   * `UnitOfWork.requireFullRead` wherever it answers without writing to that index.
   */
  reads(input: I, full: boolean): Reads;
  decide(uow: UnitOfWork, input: I, now: Date): R;
  /** True if it moves nothing in the wallet's document, so that it need not compete with acceptance for it. */
  leavesWallet?(input: I): boolean;
  /** The bytes that it writes, roughly. */
  weigh?(input: I): number;
  /** True for a mutation that takes so long that it must own its wallet from the beginning. */
  long?: boolean;
};

/** A mutation with its input, as it waits for its commit. */
export type PlannedMutation = { mutation: Mutation; input: MutationInput };

/** Joins a mutation with its input. The types of both are checked here, so that lanes can mix mutations. */
export const plan = <I extends MutationInput, R>(
  mutation: Mutation<I, R>,
  input: I,
): PlannedMutation => ({ mutation, input });
