import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { clientReference, reference, requestedAt } from '../shared/wire.js';
import type { CheckRequest } from './records.js';
import type { Check } from './state.js';

const name = z.string().min(1).max(100);
const eleven = z.string().regex(/^[0-9]{11}$/);
const person = {
  first_name: name,
  last_name: name,
  date_of_birth: z.iso.date().nullable(),
};
const request = { reference, client_reference: clientReference, requested_at: requestedAt };

/** The body of a request for a check. */
export const checkBody = z.discriminatedUnion('check_type', [
  z.strictObject({ ...request, check_type: z.enum(['bvn', 'nin']), number: eleven, ...person }),
  z.strictObject({
    ...request,
    check_type: z.literal('bank_account'),
    account_number: z.string().regex(/^[0-9]{10}$/),
    bank_code: z.string().regex(/^[0-9]{3,6}$/),
    bvn: eleven.nullable(),
    ...person,
  }),
]);

/** The body of the control that decides a check. */
export const setCheckOutcomeBody = z.strictObject({
  outcome: z.enum(['verified', 'name_mismatch', 'number_not_found', 'account_mismatch', 'failed']),
});

/** The request as the journal may have it: without number and names. */
export function toStoredRequest(body: z.infer<typeof checkBody>, secret: string): CheckRequest {
  const { requested_at, reference: ours, client_reference, check_type, ...subject } = body;
  const number = 'number' in subject ? subject.number : subject.account_number;
  const bvn = 'bvn' in subject ? subject.bvn : null;
  const digest = createHmac('sha256', secret).update(JSON.stringify(subject)).digest('hex');
  return {
    reference: ours,
    client_reference,
    check_type,
    ending: number.slice(-3),
    bvn_ending: bvn?.slice(-3) ?? null,
    digest,
    requested_at,
  };
}

/** Presents a check; a withheld outcome is shown as `pending`. */
export function presentCheck(check: Check, isWithheld = false) {
  const { reference: ours, client_reference, check_type } = check.order;
  const status = isWithheld ? 'pending' : check.status;
  return {
    reference: ours,
    client_reference,
    check_type,
    status,
    code: status === 'pending' ? null : check.code,
    created_at: new Date(check.createdAt).toISOString(),
    updated_at: new Date(status === 'pending' ? check.createdAt : check.updatedAt).toISOString(),
  };
}
