import type { z } from 'zod';
import { presentAttention, presentFailure } from '../../core/instructions/instruction.js';
import { checkStatusOf, type IdentityCheck } from './record.js';
import type { checkResource } from './schema.js';

/** A check as clients see it: every field is named here, so that a new stored field never leaks. */
export const presentCheck = (
  check: Omit<IdentityCheck, 'timeline'>,
): z.infer<typeof checkResource> => ({
  id: check._id,
  customer_id: check.customer_id,
  check_type: check.check_type,
  status: checkStatusOf(check),
  last4: check.last4,
  failure: presentFailure(check.failure),
  provider: check.provider,
  attention: presentAttention(check.attention),
  created_at: check.created_at.toISOString(),
  completed_at: check.completed_at?.toISOString() ?? null,
});

/** The line of a check in the list for operators. */
export const presentCheckRow = (check: IdentityCheck) => ({
  id: check._id,
  tenant: check.tenant_id,
  customer: check.customer,
  check_type: check.check_type,
  status: check.status,
  attention: check.attention?.reason ?? null,
  created_at: check.created_at.toISOString(),
});

/** A check for operators, with fields that tenants do not get. */
export const presentCheckDetails = (check: IdentityCheck) => ({
  ...presentCheck(check),
  tenant: check.tenant_id,
  customer: check.customer,
  erased: check.sealed === null,
  submissions: check.submissions,
});
