import type { Behaviour } from '../shared/behaviours.js';

/** Delay of an issuance with `done_later`. */
export const ISSUED_AFTER_MS = 1_000;

const ISSUES = new Map<string, Behaviour>([
  ['001', 'done_later'],
  ['002', 'refused'],
  ['004', 'done_without_answer'],
  ['005', 'lost'],
  ['006', 'needs_activation'],
  ['017', 'locked_later'],
]);

const FUNDINGS = new Map<string, Behaviour>([
  ['001', 'done_later'],
  ['002', 'refused'],
  ['004', 'done_without_answer'],
  ['005', 'lost'],
  ['006', 'pending'],
  ['007', 'failing_first'],
  ['008', 'reversed_later'],
  ['009', 'reported_out_of_order'],
  ['010', 'throttled_first'],
  ['012', 'slow'],
  ['013', 'slow_for_good'],
  ['014', 'another_amount'],
  ['022', 'executed_late'],
]);

const DISPUTES = new Map<string, Behaviour>([
  ['001', 'done_later'],
  ['002', 'refused'],
  ['004', 'done_without_answer'],
  ['005', 'lost'],
  ['006', 'pending'],
  ['007', 'failing_first'],
  ['009', 'reported_out_of_order'],
  ['010', 'throttled_first'],
  ['012', 'slow'],
  ['015', 'not_withdrawable'],
  ['021', 'credited_then_won'],
  ['022', 'credited_then_lost'],
]);

/** The pause between the steps of a dispute that takes a course by itself. */
export const NEXT_AFTER_MS = 2_000;

const STATES = new Map<string, Behaviour>([
  ['002', 'refused_first'],
  ['004', 'done_without_answer'],
  ['005', 'lost_first'],
  ['006', 'executed_late'],
  ['007', 'failing_first'],
  ['008', 'undone_later'],
]);

/** Delay of the changes that the issuer makes by itself after a request of the client. */
export const CHANGED_AFTER_MS = 3_000;
/** Delay of a change of a card's state that is executed late. */
export const SET_LATE_MS = 10_000;

const chosenFrom = (table: Map<string, Behaviour>) => (clientReference: string) =>
  table.get(clientReference.slice(-3)) ?? 'done';

/** Behaviours are chosen by the last three characters of the client's reference. */
export const issueBehaviour = chosenFrom(ISSUES);
/** The behaviour of a card funding. */
export const fundingBehaviour = chosenFrom(FUNDINGS);
/** The behaviour of a dispute of a payment. */
export const disputeBehaviour = chosenFrom(DISPUTES);
/** The behaviour of a change of a card's state. */
export const stateBehaviour = chosenFrom(STATES);
