import { supervisionIndexes } from '../../platform/database/indexes.js';
import { collection } from '../../core/commit/collection.js';
import {
  CHECK_TYPES,
  REJECTION_CODES,
  type CheckSubject,
  type CheckType,
} from '../../core/providers/identity-provider.js';
import {
  failureWith,
  isOpen,
  freshSubmission,
  type InstructionRecord,
  timelineEntry,
} from '../../core/instructions/instruction.js';
import type { CheckStatus } from '../customers/record.js';

/** An identity check as it is stored. Nothing in it shows the number or a name. */
export type IdentityCheck = InstructionRecord & {
  /** The tenant's own id of the customer, and the id of its record. */
  customer_id: string;
  customer: string;
  check_type: CheckType;
  /** The subject (`CheckSubject` as JSON), sealed for this record; null once the check has ended. */
  sealed: string | null;
  /** The last digits of the number, and its blind index. */
  last4: string;
  number_index: string;
  failure: { code: string; message: string } | null;
  completed_at: Date | null;
};

/** The place of the sealed subject of a check. */
export const subjectPlace = (id: string) => ({ record: id, field: 'identity_checks.sealed' });

/** The id of the workflow that executes a check. */
export const identityCheckWorkflowId = (id: string) => `identity-check/${id}`;

/** The status that tenants see. A check that failed is `rejected` if the provider says that the data do not match. */
export function checkStatusOf(check: Pick<IdentityCheck, 'status' | 'failure'>): CheckStatus {
  if (isOpen(check)) return 'pending';
  if (check.status === 'completed') return 'verified';
  return REJECTION_CODES.some((code) => code === check.failure?.code) ? 'rejected' : 'failed';
}

/** A failure with its message. An unknown code gets a general message. */
export const checkFailure = failureWith(
  {
    name_mismatch: 'The number belongs to another name.',
    number_not_found: 'There is no such number.',
    account_mismatch: 'The account belongs to another person.',
    operator: 'An operator ended this check.',
  },
  'The provider could not check the data.',
);

/** The number of a subject, by which checks of the same number are recognized. */
export const numberOf = (subject: CheckSubject): string =>
  'number' in subject ? subject.number : `${subject.bankCode}/${subject.accountNumber}`;

type NewCheck = Pick<
  IdentityCheck,
  | '_id'
  | 'tenant_id'
  | 'customer_id'
  | 'customer'
  | 'check_type'
  | 'provider'
  | 'sealed'
  | 'last4'
  | 'number_index'
>;

/** Builds the record of a check with everything that does not depend on the commit. */
export const newIdentityCheck = (given: NewCheck, now: Date): IdentityCheck => ({
  ...given,
  version: 1,
  event_sequence: 0,
  status: 'pending',
  failure: null,
  ...freshSubmission(now),
  timeline: [timelineEntry(now, 'accepted', 'api', { detail: 'the number is sealed' })],
  created_at: now,
  updated_at: now,
  completed_at: null,
});

const string = { bsonType: 'string' };

/** The collection of identity checks. */
export const identityChecks = collection<IdentityCheck>('identity_checks', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'status', 'customer_id', 'check_type', 'submissions'],
    properties: {
      tenant_id: string,
      customer_id: string,
      check_type: { enum: [...CHECK_TYPES] },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      sealed: { bsonType: ['string', 'null'] },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, customer_id: 1, created_at: -1, _id: -1 } },
    ...supervisionIndexes,
  ],
  sealed: [{ path: 'sealed', place: 'identity_checks.sealed', byOwner: true }],
});
