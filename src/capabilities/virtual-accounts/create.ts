import type { GroupCommit } from '../../core/commit/group-commit.js';
import { throwIfKeyReused, type Claim } from '../../core/commit/accept.js';
import type { IdempotentResponse } from '../../core/idempotency/with-idempotency.js';
import type { AccountHolder, AccountProvider } from '../../core/providers/account-provider.js';
import { invalidFields } from '../../platform/http/validate.js';
import type { Customers } from '../customers/index.js';
import { acceptVirtualAccount, acceptVirtualAccountClosing } from './mutations.js';
import type { CreateVirtualAccountBody } from './schema.js';
import { newVirtualAccount, type VirtualAccount } from './record.js';

/** Accepts an account and starts its assignment. */
export type CreateVirtualAccount = (
  tenantId: string,
  body: CreateVirtualAccountBody,
  claim: Claim | null,
) => Promise<IdempotentResponse>;

/** Begins to close an account. */
export type CloseVirtualAccount = (
  tenantId: string,
  id: string,
  claim: Claim | null,
) => Promise<IdempotentResponse>;

type Deps = {
  customers: Pick<Customers, 'get'>;
  groupCommit: Pick<GroupCommit, 'commit'>;
  starter: { startSoon(account: VirtualAccount): void };
  provider: () => AccountProvider;
  /** Open accounts that a customer may have. */
  maxOpen: number;
};

/** Creates the function that accepts accounts: one commit of record, count, key and answer; then the start of its workflow. */
export function createVirtualAccountCreation(deps: Deps): CreateVirtualAccount {
  const { customers, groupCommit, starter, provider, maxOpen } = deps;

  return async (tenantId, body, claim) => {
    const { name, accounts } = provider();
    const customer = holderOf(body);
    const missing = accounts.needs.filter((need) => customer[need] === null);
    const known = missing.length > 0 ? await customers.get(tenantId, customer.id) : null;
    refuseMissing(
      body,
      missing.filter((need) => need === 'phone' || !known?.[need]),
    );
    const account = newVirtualAccount(
      {
        tenantId,
        provider: name,
        customer,
        accountName: body.account_name ?? customer.id,
        bankCode: body.bank_code ?? null,
        reference: body.reference,
        expectedMinor: body.expected_amount_minor ? BigInt(body.expected_amount_minor) : null,
        onMismatch: body.on_mismatch,
        metadata: body.metadata ?? null,
      },
      new Date(),
    );
    const outcome = throwIfKeyReused(
      await groupCommit.commit(acceptVirtualAccount, {
        tenantId,
        account,
        isUnnamed: body.account_name === undefined,
        maxOpen,
        claim,
      }),
    );
    if (outcome.resource === account._id) starter.startSoon(account);
    return outcome;
  };
}

/** The holder as a body names it. The commit adds the e-mail and the name that are known of the customer. */
function holderOf({ customer, customer_id: id }: CreateVirtualAccountBody): AccountHolder {
  const { email = null, name = null, phone = null } = customer ?? {};
  return { id: customer?.id ?? String(id), email, name, phone };
}

/** Throws a `validation_error` that names the fields of the customer which the provider needs and nobody has given. */
function refuseMissing(
  { customer }: CreateVirtualAccountBody,
  missing: AccountProvider['accounts']['needs'],
): void {
  if (missing.length === 0) return;
  const message = customer
    ? 'This field is required.'
    : 'The provider needs this field of the customer: send customer in place of customer_id.';
  throw invalidFields(
    missing.map((need) => ({ field: `customer.${need}`, code: 'required', message })),
  );
}

/** Creates the function that closes accounts: one commit, then the start of the workflow. */
export function createVirtualAccountClosing({
  groupCommit,
  starter,
}: Pick<Deps, 'groupCommit' | 'starter'>): CloseVirtualAccount {
  return async (tenantId, id, claim) => {
    const { closing, ...outcome } = await groupCommit.commit(acceptVirtualAccountClosing, {
      tenantId,
      id,
      claim,
    });
    if (closing) starter.startSoon(closing);
    return throwIfKeyReused(outcome);
  };
}
