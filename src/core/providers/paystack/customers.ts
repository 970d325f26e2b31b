import { z } from 'zod';
import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import { mismatchOf, unreadable, type Data, type PaystackClient } from './client.js';
import { domain, email, numericId, recordCode } from './fields.js';
import { at } from './lists.js';

/**
 * Customers at Paystack. Each of our records that needs one has a customer of its own there, whose e-mail address is our id
 * at a domain of the operator's. So answers and messages about customers name our record, no tenant's customer is known to
 * Paystack by an address of theirs, and two tenants never share one. Nothing is sent to the address by Bursar.
 */

/** The settings of a deployment that may make customers. */
export type CustomerSettings = Pick<PaystackSettings, 'domain'> & { customerDomain: string };

/** The person as Paystack gets it. */
export type Person = { firstName: string; lastName: string; phone: string | null };

/** The customers of a deployment. */
export type PaystackCustomers = ReturnType<typeof createPaystackCustomers>;

const customerData = z.looseObject({
  id: numericId,
  customer_code: recordCode('CUS'),
  email,
  domain,
  identified: z.boolean().nullish().catch(null),
});

/** The address under which a record of ours has its customer. */
export const emailOf = (reference: string, { customerDomain }: CustomerSettings): string =>
  `${reference}@${customerDomain}`;

/** Our id in an address; null for a customer that was made elsewhere. */
export function referenceIn(
  email: string | null | undefined,
  { customerDomain }: CustomerSettings,
): string | null {
  const [reference = '', at, ...more] = (email ?? '').toLowerCase().split('@');
  return at === customerDomain && more.length === 0 ? reference : null;
}

/** The two names that Paystack wants, from one. A single word stands for both. */
export function namesOf(name: string): { firstName: string; lastName: string } {
  const words = name.trim().split(/\s+/);
  const lastName = words.at(-1) ?? name;
  return { firstName: words.slice(0, -1).join(' ') || lastName, lastName };
}

/** Creates the calls about customers. None of them moves money, and a repeat has no further effect. */
export function createPaystackCustomers(client: PaystackClient, settings: CustomerSettings) {
  const read = (reference: string) => (found: Data) => customerIn(found, reference, settings);

  async function ask<State>(
    reference: string,
    signal: AbortSignal,
    reading: (found: Data) => State,
  ) {
    const path = at('/customer', emailOf(reference, settings));
    return client.verify({ call: 'findCustomer', method: 'GET', path }, signal, reading);
  }
  const find = (reference: string, signal: AbortSignal) => ask(reference, signal, read(reference));

  return {
    /** Asks for the customer of a record, and reads the answer as the caller wants. */
    ask,
    find,
    /** The customer of a record. It is created if there is none. */
    async prepare(reference: string, person: Person, signal: AbortSignal) {
      const known = await find(reference, signal);
      if (known.kind !== 'not_found') return known;
      const body = {
        email: emailOf(reference, settings),
        first_name: person.firstName,
        last_name: person.lastName,
        ...(person.phone !== null && { phone: person.phone }),
      };
      const request = { call: 'createCustomer', method: 'POST', path: '/customer', body } as const;
      return client.submit(request, signal, read(reference));
    },
  };
}

/** Reads the customer of a record. */
export function customerIn({ data }: Data, reference: string, settings: CustomerSettings) {
  const parsed = customerData.safeParse(data);
  if (!parsed.success) return unreadable();
  const { id, customer_code: code, email, domain: theirs } = parsed.data;
  const expected = { reference: emailOf(reference, settings), domain: settings.domain };
  const wrong = mismatchOf({ reference: email.toLowerCase(), domain: theirs }, expected);
  const identified = parsed.data.identified === true;
  return wrong ?? ({ kind: 'customer', id, code, identified } as const);
}
