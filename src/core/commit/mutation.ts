import type { Act, AuditedState } from '../audit/entry.js';
import type { Reads, UnitOfWork } from './unit-of-work.js';

/**
 * The tenant whose wallet a mutation may change, and for some mutations the record that it is about. `act`: an operator does
 * it, and its entry in the audit log is written in the same commit.
 */
export type MutationInput = {
  tenantId: string;
  id?: string;
  /** The claim of the request that the mutation answers. */
  claim?: { requestId?: string } | null;
  act?: Act | undefined;
  /** A fact by an operator has the act with it. */
  fact?: object;
};

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
  /** The state of the target, for the audit log: asked before the decision and after it. */
  audited?(uow: UnitOfWork, input: I): AuditedState;
  /** An estimate of the bytes that it writes, for grouping. The size that counts is measured after the decision. */
  weigh?(input: I): number;
  /** True for a mutation that takes so long that it must own its wallet from the beginning. */
  long?: boolean;
  /** True if the first try reads everything too: its mutation is large, and is likely to be refused in part. */
  readsFully?(input: I): boolean;
  /** True for a mutation that somebody outside waits for under a deadline: others of its lane do not enter ahead of it. */
  urgent?: boolean;
};

/** A mutation with its input, as it waits for its commit. */
export type PlannedMutation = {
  mutation: Mutation;
  input: MutationInput;
  /** True if another process may have committed it already, without an answer. */
  isRepeat?: boolean;
  /** True if another process has sent it. */
  isForwarded?: boolean;
  /** True once it must not be decided any more, because its sender may have answered its client otherwise. */
  isTooLate?: () => boolean;
};

/** The result of a mutation, or the error with which it was refused. */
export type CommitAttempt = { result: unknown } | { error: unknown };

/** Mutations by the names under which one process hands them to another of the same release. */
export type MutationsByName = Readonly<Record<string, Mutation>>;

/** A type without functions, which cannot be sent. */
type Sendable<T> = T extends (...given: never[]) => unknown
  ? never
  : T extends Date
    ? T
    : T extends object
      ? { [K in keyof T]: Sendable<T[K]> }
      : T;

/** Lists mutations that another process may decide. Compiling it checks that their inputs can be sent. */
export const forwardable = <M extends MutationsByName>(mutations: {
  [Name in keyof M]: M[Name] extends Mutation<infer I, infer _R>
    ? I extends Sendable<I>
      ? M[Name]
      : never
    : never;
}): MutationsByName => mutations;
