import type { Behaviour } from '../shared/behaviours.js';
import type { CheckRequest } from './records.js';

const BY_ENDING = new Map<string, Behaviour>([
  ['001', 'done_later'],
  ['004', 'done_without_answer'],
  ['005', 'lost'],
  ['006', 'pending'],
  ['007', 'failing_first'],
  ['010', 'throttled_first'],
]);

const REJECTIONS = new Map([
  ['002', 'name_mismatch'],
  ['003', 'number_not_found'],
]);

/** The behaviour of a check, by the last three digits of the number. */
export const checkBehaviour = ({ ending }: Pick<CheckRequest, 'ending'>): Behaviour =>
  BY_ENDING.get(ending) ?? 'done';

/** The code with which a check is rejected; null if the data match. */
export const rejectionOf = ({ ending, bvn_ending: bvn }: CheckRequest): string | null =>
  REJECTIONS.get(ending) ?? (bvn === '002' ? 'account_mismatch' : null);
