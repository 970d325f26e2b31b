import type { z } from 'zod';
import { createRecurringCharge } from '../../src/capabilities/recurring-charges/api.js';
import type { recurringChargeResource } from '../../src/capabilities/recurring-charges/schema.js';
import { newId } from '../../src/shared/ids.js';
import type { RecurringCharge } from '../../src/capabilities/recurring-charges/record.js';
import type { PaymentToken } from '../../src/capabilities/payment-tokens/record.js';
import { paymentClient } from './payments.js';
import type { Service } from './service.js';
import { untilTaken, type TestTenant } from './tenant.js';

/** A recurring charge in the state after acceptance: every month from its start. */
export function recurringCharge(changes: Partial<RecurringCharge> = {}): RecurringCharge {
  const start = changes.start_at ?? new Date('2026-01-31T08:00:00.000Z');
  return {
    _id: newId('recurringCharge'),
    tenant_id: 'ten_a',
    version: 1,
    event_sequence: 0,
    payment_token_id: 'tok_a',
    customer_id: 'customer-1',
    amount_minor: 500_000n,
    currency: 'NGN',
    interval: 'month',
    interval_count: 1,
    timezone: 'Africa/Lagos',
    start_at: start,
    end_at: null,
    count: null,
    description: null,
    metadata: null,
    status: 'active',
    token_revoked: false,
    next_period: 0,
    next_charge_at: start,
    charged_periods: 0,
    unpaid: [],
    last_paid_reference: null,
    paused_at: null,
    pauses: [],
    next_check_at: start,
    created_at: start,
    updated_at: start,
    ended_at: null,
    ...changes,
  };
}

/** A card that a customer has saved with the provider. */
export function paymentToken(changes: Partial<PaymentToken> = {}): PaymentToken {
  const at = new Date('2026-01-01T08:00:00.000Z');
  return {
    _id: newId('paymentToken'),
    tenant_id: 'ten_a',
    version: 1,
    type: 'card',
    customer: { id: 'customer-1', email: 'ada@example.com', name: null },
    status: 'active',
    provider: 'sandbox-bank',
    authorization: 'AUTH_of_the_tests',
    revoking: null,
    next_check_at: null,
    method_email: null,
    brand: 'visa',
    last4: '4081',
    bank_code: null,
    account_number: null,
    metadata: null,
    created_at: at,
    updated_at: at,
    ...changes,
  };
}

/** A recurring charge in an answer. */
export type RecurringView = z.infer<typeof recurringChargeResource>;

/** The path of recurring charges. */
export const RECURRING_PATH = '/payments/recurring-charges';

/** Stores a chargeable token directly, also for services without a worker. */
export async function boundToken(tenant: TestTenant, { deps }: Service): Promise<string> {
  const customer = { id: 'customer-77', email: 'ada@example.com', name: null };
  const token = paymentToken({ tenant_id: tenant.id, customer });
  await deps.database.db.collection<PaymentToken>('payment_tokens').insertOne(token);
  return token._id;
}

/** Creates the recurring charge of the document's example, starting tomorrow. */
export async function newRecurring(tenant: TestTenant, service: Service): Promise<string> {
  const body = {
    ...createRecurringCharge.examples.body,
    payment_token_id: await boundToken(tenant, service),
    start_at: new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString(),
  };
  const { call } = paymentClient(tenant);
  const reply = await untilTaken((under) =>
    call<RecurringView>('POST', RECURRING_PATH, body, under),
  );
  if (reply.status !== 201) throw new Error(`not accepted: ${reply.text}`);
  return reply.body.data.id;
}
