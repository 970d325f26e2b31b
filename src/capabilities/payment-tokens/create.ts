import type { z } from 'zod';
import { newId } from '../../shared/ids.js';
import { throwIfKeyReused, type Claim, successResponse } from '../../core/commit/accept.js';
import type { AuthenticatedKey } from '../../platform/api-keys/authentication.js';
import { customerOf } from './schema.js';
import type { bankAccountTokenBody, cardTokenBody } from './schema.js';
import { presentToken } from './presenter.js';
import type { Tokens } from './store.js';
import type { PaymentToken } from './record.js';

type CardBody = z.infer<typeof cardTokenBody>;
type BankAccountBody = z.infer<typeof bankAccountTokenBody>;

/** Creates an unbound token. */
export const createTokenCreation =
  ({ tokens, provider }: { tokens: Tokens; provider: () => string }) =>
  async (
    { tenant, kind }: Pick<AuthenticatedKey, 'tenant' | 'kind'>,
    body: CardBody | BankAccountBody,
    claim: Claim | null,
  ) => {
    const made = newToken(tenant.id, body, provider(), new Date());
    const token: PaymentToken = kind === 'public' ? { ...made, made_by: 'public_key' } : made;
    const answer = successResponse(presentToken(token));
    const mayChangeCustomer = kind === 'secret';
    const input = { tenantId: tenant.id, id: token._id, token, mayChangeCustomer, claim, answer };
    return throwIfKeyReused(await tokens.create(input));
  };

function newToken(
  tenantId: string,
  body: CardBody | BankAccountBody,
  provider: string,
  now: Date,
): PaymentToken {
  const account = 'account_number' in body ? body : null;
  return {
    _id: newId('paymentToken'),
    tenant_id: tenantId,
    version: 1,
    type: account ? 'bank_account' : 'card',
    customer: customerOf(body.customer),
    status: 'unbound',
    provider,
    authorization: null,
    revoking: null,
    next_check_at: null,
    method_email: null,
    brand: null,
    last4: account ? account.account_number.slice(-4) : null,
    bank_code: account?.bank_code ?? null,
    account_number: account?.account_number ?? null,
    metadata: body.metadata ?? null,
    created_at: now,
    updated_at: now,
  };
}
