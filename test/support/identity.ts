import type { z } from 'zod';
import type { customerResource } from '../../src/capabilities/customers/schema.js';
import type { checkResource } from '../../src/capabilities/identity-checks/schema.js';
import type { CheckType } from '../../src/core/providers/identity-provider.js';
import { eventually } from './eventually.js';
import { unlessKeyed, type CallOptions, type Reply, type TestTenant } from './tenant.js';

/** A check in an answer. */
export type CheckView = z.infer<typeof checkResource>;
/** A customer in an answer. */
export type CustomerView = z.infer<typeof customerResource>;

type IdentityReply<Data> = Omit<Reply, 'body'> & {
  body: Omit<Reply['body'], 'data'> & {
    data: Data;
    pagination?: { page: number; limit: number; total: number; pages: number; has_more: boolean };
  };
};

let made = 0;

/** A customer's id that no other test uses. */
export const newCustomerId = () => `person-${process.pid}-${(made += 1)}`;

/** An eleven-digit number that no other test uses. Its last three digits select what the sandbox bank does. */
export const newNumber = (ending = '789') =>
  `22${String(100_000 + ((process.pid * 7 + (made += 1)) % 900_000))}${ending}`;

/** The body of a check. */
export const checkBody = (type: CheckType = 'bvn', number = newNumber()) => ({
  first_name: 'Adaeze',
  last_name: 'Okonkwo',
  ...(type === 'bank_account'
    ? { account_number: number.slice(-10), bank_code: '058' }
    : { number }),
});

/** A client of the identity routes for one tenant. */
export function identityClient(tenant: Pick<TestTenant, 'call'>) {
  const call = async <Data>(
    method: string,
    path: string,
    body?: object,
    options?: CallOptions,
  ): Promise<IdentityReply<Data>> => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    return (await tenant.call(method, path, sent, options)) as unknown as IdentityReply<Data>;
  };
  const at = (customer: string) => `/identity/customers/${encodeURIComponent(customer)}`;
  const get = async (customer: string, id: string): Promise<CheckView> =>
    (await call<CheckView>('GET', `${at(customer)}/kyc/${id}`)).body.data;

  const verifyAt = (path: string, body: object, options?: CallOptions) =>
    unlessKeyed((given) => call<CheckView>('POST', path, body, given), options, body);

  return {
    call,
    get,
    verify: (
      customer: string,
      { type = 'bvn', body }: { type?: CheckType; body?: object } = {},
      options?: CallOptions,
    ) => verifyAt(`${at(customer)}/kyc/${type}/verify`, body ?? checkBody(type), options),
    checks: async (customer: string) =>
      (await call<CheckView[]>('GET', `${at(customer)}/kyc`)).body.data,
    customer: async (customer: string) => (await call<CustomerView>('GET', at(customer))).body.data,
    customers: (query = '') => call<CustomerView[]>('GET', `/identity/customers${query}`),
    /** Waits until a check has this status, or satisfies the function. */
    async waitFor(
      { customer_id: customer, id }: CheckView,
      wanted: string | ((check: CheckView) => boolean),
    ): Promise<CheckView> {
      const fits = typeof wanted === 'string' ? (c: CheckView) => c.status === wanted : wanted;
      return eventually(`${id} is ${String(wanted)}`, async () => {
        const check = await get(customer, id);
        return fits(check) ? check : undefined;
      });
    },
  };
}

/** A client of the identity routes. */
export type IdentityClient = ReturnType<typeof identityClient>;
