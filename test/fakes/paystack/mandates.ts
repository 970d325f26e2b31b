import { randomBytes } from 'node:crypto';
import { done, refused, type Answer } from './answers.js';
import type { Context } from './context.js';
import type { Request } from './http.js';
import type { Mandate } from './records.js';

/** POST /customer/authorization/initialize. */
export function initializeMandate(ctx: Context, { body, origin }: Request): Answer {
  const { email, channel } = body;
  if (typeof email !== 'string' || channel !== 'direct_debit') {
    return refused(400, 'email and channel are required', 'missing_params');
  }
  const reference = randomBytes(8).toString('hex');
  const code = `AUTH_${randomBytes(5).toString('hex')}`;
  ctx.mandates.put(reference, { reference, email, code, active: false });
  return done('Authorization initialized', {
    redirect_url: `${origin}/mandate/${reference}`,
    access_code: randomBytes(8).toString('hex'),
    reference,
  });
}

/** GET /customer/authorization/verify/{reference}. */
export function verifyMandate(ctx: Context, { parameter }: Request): Answer {
  const mandate = ctx.mandates.get(parameter);
  if (!mandate)
    return refused(404, 'Authorization does not exist or does not belong to integration');
  return done('Authorization retrieved successfully', {
    authorization_code: mandate.code,
    channel: 'direct_debit',
    bank: 'TEST BANK',
    active: mandate.active,
    customer: { code: 'CUS_invented00000001', email: mandate.email },
  });
}

/** The customer's bank confirms a mandate. */
export function activate(ctx: Context, reference: string): Mandate | null {
  const before = ctx.mandates.get(reference);
  if (!before || before.active) return null;
  ctx.authorizations.put(before.code, {
    code: before.code,
    email: before.email,
    channel: 'direct_debit',
    brand: '',
    last4: 'X553',
    expMonth: '',
    reusable: true,
    active: true,
    next: 'success',
  });
  return ctx.mandates.put(reference, { ...before, active: true });
}

/** A mandate in a message, which has `status` and `message` beside `data`. */
export const mandateBody = (ctx: Context, mandate: Mandate) => ({
  id: 0,
  domain: ctx.domain,
  reference: mandate.reference,
  authorization_code: mandate.code,
  channel: 'direct_debit',
  bank: 'TEST BANK',
  active: mandate.active,
  customer: { id: 1, customer_code: 'CUS_invented00000001', email: mandate.email },
});
