import type { z } from 'zod';
import type { virtualAccountResource } from '../../src/capabilities/virtual-accounts/schema.js';
import type { VirtualAccount } from '../../src/capabilities/virtual-accounts/record.js';
import type { Deps } from '../../src/composition/deps.js';
import { depositId, type Deposit } from '../../src/capabilities/deposits/record.js';
import { eventually } from './eventually.js';
import type { PaymentReply } from './payments.js';
import type { Service } from './service.js';
import { unlessKeyed, type CallOptions, type TestTenant } from './tenant.js';

/** A virtual account in an answer. */
export type AccountView = z.infer<typeof virtualAccountResource>;

type Body = Record<string, unknown>;

let made = 0;

/** A customer's id that no other test uses. Its ending selects what the bank does. */
export const accountCustomer = (suffix = '789') => `holder-${process.pid}-${(made += 1)}-${suffix}`;

/** A client of the routes of virtual accounts for one tenant. */
export function accountClient(tenant: Pick<TestTenant, 'call'>) {
  const call = async <Data>(
    method: string,
    path: string,
    body?: Body,
    options?: CallOptions,
  ): Promise<PaymentReply<Data>> => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    return (await tenant.call(method, path, sent, options)) as unknown as PaymentReply<Data>;
  };
  const get = async (id: string) =>
    (await call<AccountView>('GET', `/virtual-accounts/${id}`)).body.data;
  const create = (body: Body, options?: CallOptions) =>
    unlessKeyed(
      (given) => call<AccountView>('POST', '/virtual-accounts', body, given),
      options,
      body,
    );

  async function waitFor(id: string, wanted: string | ((account: AccountView) => boolean)) {
    const fits = typeof wanted === 'string' ? (a: AccountView) => a.status === wanted : wanted;
    let latest: AccountView | null = null;
    return eventually(`${id} is ${String(wanted)}`, async () => {
      latest = await get(id);
      return fits(latest) ? latest : undefined;
    }).catch(async (error: unknown) => {
      const { body } = await call('GET', `/virtual-accounts/${id}/timeline`);
      const found = JSON.stringify({ latest, timeline: body.data }, null, 1);
      throw new Error(`not as wanted, but ${found}`, { cause: error });
    });
  }

  return {
    call,
    get,
    create,
    waitFor,
    /** Creates an account that must be accepted, and returns it as it was accepted. */
    async accepted(suffix?: string, changes: Body = {}): Promise<AccountView> {
      const body = { customer_id: accountCustomer(suffix), ...changes };
      const { status, text, body: answer } = await create(body);
      if (status !== 201) throw new Error(`not accepted: ${text}`);
      return answer.data;
    },
    /** Creates an account and waits until it is active. */
    async active(
      suffix?: string,
      changes?: Body,
    ): Promise<AccountView & { account_number: string }> {
      const account = await waitFor((await this.accepted(suffix, changes)).id, 'active');
      return { ...account, account_number: String(account.account_number) };
    },
    close: (id: string, options?: CallOptions) =>
      unlessKeyed(
        (given) => call<AccountView>('POST', `/virtual-accounts/${id}/close`, undefined, given),
        options,
      ),
    list: (query = '') => call<AccountView[]>('GET', `/virtual-accounts${query}`),
    timeline: async (id: string) =>
      (
        await call<{ type: string; detail: string | null }[]>(
          'GET',
          `/virtual-accounts/${id}/timeline`,
        )
      ).body.data,
  };
}

/** A client of the routes of virtual accounts. */
export type AccountClient = ReturnType<typeof accountClient>;

/** Assigns an account directly, without a worker and without the bank. Returns its id. */
export async function assignDirectly(deps: Deps, id: string, accountNumber: string) {
  const account = (await deps.virtualAccounts.store.find(id)) as VirtualAccount;
  await deps.virtualAccounts.store.applyFact(account, {
    via: 'poll',
    actor: null,
    providerRequestId: null,
    note: null,
    instruction: 'assign',
    kind: 'assigned',
    handle: id,
    accountNumber,
    accountName: account.account_name,
    bankName: 'Wema Bank',
    bankCode: '035',
  });
  return id;
}

/** A deposit on a closed account, which is in suspense. */
export async function suspendedDeposit(
  { service, tenant }: { service: Service; tenant: TestTenant },
  amountMinor: number,
): Promise<Deposit> {
  const accounts = accountClient(tenant);
  const account = await accounts.active();
  await accounts.close(account.id);
  await accounts.waitFor(account.id, 'closed');
  const theirs = await service.bank.deposit(account.account_number, { amount_minor: amountMinor });
  const id = depositId('sandbox-bank', theirs);
  return eventually(`${id} is in suspense`, async () => {
    const found = await service.deps.deposits.store.find(id);
    return found?.state === 'suspended' ? found : undefined;
  });
}
