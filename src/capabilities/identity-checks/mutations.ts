import {
  acceptOnce,
  keysOf,
  type AcceptResult,
  type Claim,
  type SavedResponse,
} from '../../core/commit/accept.js';
import type { Mutation } from '../../core/commit/mutation.js';
import type { UnitOfWork } from '../../core/commit/unit-of-work.js';
import type { InstructionFact } from '../../core/instructions/fact.js';
import { instructionState } from '../../core/instructions/instruction.js';
import type { Verdict } from '../../core/instructions/transition.js';
import { CHECK_TYPES, type CheckType } from '../../core/providers/identity-provider.js';
import { ApiError } from '../../shared/errors.js';
import {
  customerRecordId,
  customers,
  kycStatusOf,
  withCheck,
  type Customer,
} from '../customers/record.js';
import { customerRef, nameCustomer } from '../customers/mutations.js';
import { checkStatusOf, identityChecks, type IdentityCheck } from './record.js';
import { transitionCheck } from './transitions.js';
import { withCheckEvent } from './webhook-events.js';

/** A new check with its idempotency key. */
type AcceptIdentityCheck = {
  tenantId: string;
  id: string;
  /** Complete, with its id, before it queues. */
  check: IdentityCheck;
  /** The provider runs one check of a customer at a time. */
  onePerCustomer: boolean;
  claim: Claim | null;
  answer: SavedResponse;
};

/** The fields of a check that name the records which its facts change. */
export type CheckKey = Pick<IdentityCheck, '_id' | 'tenant_id' | 'customer_id'>;

type ApplyIdentityCheckFact = {
  tenantId: string;
  id: string;
  customerId: string;
  fact: InstructionFact;
};

/** The verdict, and the check after the fact. */
export type ApplyIdentityCheckFactResult =
  { kind: 'fact'; verdict: Verdict; check: IdentityCheck } | { kind: 'no_such_check' };

/** Accepts a check once: record, customer and the response in one commit. */
export const acceptIdentityCheck: Mutation<AcceptIdentityCheck, AcceptResult> = {
  reads: ({ tenantId, id, check, claim }, full) => ({
    keys: keysOf(claim),
    records: [customerRef(tenantId, check.customer_id), ...(full ? [identityChecks.ref(id)] : [])],
  }),
  decide: decideAccept,
  leavesWallet: () => true,
};

/** Applies a fact about a check. Repeats and facts out of order are safe. */
export const applyIdentityCheckFact: Mutation<
  ApplyIdentityCheckFact,
  ApplyIdentityCheckFactResult
> = {
  reads: ({ tenantId, id, customerId }) => ({
    records: [identityChecks.ref(id), customerRef(tenantId, customerId)],
  }),
  decide: decideFact,
  audited: (uow, { id }) => instructionState(uow.get(identityChecks, id)),
  leavesWallet: () => true,
};

function decideAccept(uow: UnitOfWork, input: AcceptIdentityCheck, now: Date): AcceptResult {
  const { tenantId, check, answer } = input;
  const { _id: id, customer_id: customerId, check_type: type } = check;
  return acceptOnce(uow, input, now, {
    collection: identityChecks,
    id,
    response: () => answer,
    admit() {
      const known = uow.get(customers, check.customer);
      const refusal = known ? refuse(known, type, input.onePerCustomer) : null;
      if (refusal) return refusal;
      const named = { id: customerId, email: null, name: null, mayChange: true };
      const customer = nameCustomer(uow, tenantId, named, now);
      uow.change(customers, withCheck(customer, type, { id, status: 'pending' }, now));
      uow.create(identityChecks, check);
      return check;
    },
  });
}

/** Returns the refusal of a further check of this type, or null. */
function refuse(customer: Customer, type: CheckType, onePerCustomer: boolean): ApiError | null {
  const field = 'check_type';
  const status = kycStatusOf(customer, type);
  if (status === 'verified' || status === 'pending') {
    const message =
      status === 'verified'
        ? `The customer’s ${type} is verified already.`
        : `A check of the customer’s ${type} is under way.`;
    return new ApiError('invalid_state', { field, message, details: { status } });
  }
  const other = CHECK_TYPES.find((each) => kycStatusOf(customer, each) === 'pending');
  if (!onePerCustomer || other === undefined) return null;
  const message = `A check of the customer’s ${other} is under way, and the provider runs one at a time.`;
  return new ApiError('invalid_state', { field, message, details: { status: 'pending' } });
}

function decideFact(
  uow: UnitOfWork,
  { tenantId, id, customerId, fact }: ApplyIdentityCheckFact,
  now: Date,
): ApplyIdentityCheckFactResult {
  const check = uow.get(identityChecks, id);
  if (check?.tenant_id !== tenantId || check.customer_id !== customerId) {
    return { kind: 'no_such_check' };
  }
  const { verdict, next: changed } = transitionCheck(check, fact, now);
  if (changed === check) return { kind: 'fact', verdict, check };
  const { next, event } = withCheckEvent(check, changed);
  uow.change(identityChecks, next);
  uow.emit(event);
  changeCustomer(uow, next, now);
  return { kind: 'fact', verdict, check: next };
}

/** Shows the status of a check at its customer, unless a later check of the type takes its place there. */
function changeCustomer(uow: UnitOfWork, check: IdentityCheck, now: Date): void {
  const { tenant_id: tenantId, customer_id: customerId, check_type: type } = check;
  const customer = uow.get(customers, customerRecordId(tenantId, customerId));
  if (!customer) throw new Error(`${check._id} has no customer`);
  const latest = customer.checks[type];
  const status = checkStatusOf(check);
  if (latest?.id !== check._id || latest.status === status) return;
  uow.change(customers, withCheck(customer, type, { id: check._id, status }, now));
}
