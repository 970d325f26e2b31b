import type { Behaviour } from '../shared/behaviours.js';

/** Delay of an assignment with `done_later`. */
export const OPENED_AFTER_MS = 1_000;
/** A deposit of the sender 001 is found this long after its event. */
export const FOUND_AFTER_MS = 2_000;
/** Delay of the reversal of a deposit of the sender 006. */
export const REVERSED_AFTER_MS = 3_000;
/** Difference between the deposit of the sender 007 and the amount that its event names. */
export const WRONG_BY_MINOR = 1_000;

const ACCOUNTS = new Map<string, Behaviour>([
  ['001', 'done_later'],
  ['002', 'refused'],
  ['004', 'done_without_answer'],
  ['005', 'lost'],
  ['006', 'pending'],
  ['007', 'failing_first'],
  ['010', 'throttled_first'],
]);

/** The network's treatment of a deposit, by the ending of the sender's name. */
export type DepositBehaviour =
  | 'told'
  /** Not found until 2 s after the event. */
  | 'found_later'
  /** The event has no deposit. */
  | 'event_only'
  | 'by_requery_only'
  | 'by_list_only'
  | 'reversed_later'
  | 'told_with_another_amount'
  /** The network closes the account first. */
  | 'after_closing'
  | 'to_unknown_account'
  | 'told_by_other_environment'
  | 'return_refused'
  | 'returned_without_answer';

const DEPOSITS = new Map<string, DepositBehaviour>([
  ['001', 'found_later'],
  ['002', 'event_only'],
  ['003', 'by_requery_only'],
  ['004', 'by_list_only'],
  ['006', 'reversed_later'],
  ['007', 'told_with_another_amount'],
  ['008', 'after_closing'],
  ['009', 'to_unknown_account'],
  ['010', 'told_by_other_environment'],
  ['012', 'return_refused'],
  ['013', 'returned_without_answer'],
]);

/** The behaviour of an assignment, by the last three characters of the customer's id. */
export const accountBehaviour = (clientReference: string): Behaviour =>
  ACCOUNTS.get(clientReference.slice(-3)) ?? 'done';

/** True if a closing is executed and never answered. */
export const closesInSilence = (clientReference: string): boolean =>
  clientReference.endsWith('016');

/** The behaviour of a deposit, by the last three characters of the sender's name. */
export const depositBehaviour = (senderName: string): DepositBehaviour =>
  DEPOSITS.get(senderName.slice(-3)) ?? 'told';
