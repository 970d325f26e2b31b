import type { GroupCommit } from '../../core/commit/group-commit.js';
import { acceptCharge, noTokenOfPublicKey } from './mutations.js';
import type { AuthenticatedKey } from '../../platform/api-keys/authentication.js';
import { ApiError } from '../../shared/errors.js';
import { refuseRequest } from '../../core/idempotency/save-refusal.js';
import type { IdempotentResponse } from '../../core/idempotency/with-idempotency.js';
import { throwIfKeyReused, type Claim, successResponse } from '../../core/commit/accept.js';
import { customerOf, type Tokens } from '../payment-tokens/index.js';
import type { Customer } from '../payment-tokens/record.js';
import { type Charge, newCharge } from './record.js';
import type { Charges } from './store.js';
import { presentCharge } from './presenter.js';
import type { CreateChargeBody } from './schema.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';

/** Accepts a charge and starts its workflow. */
export type CreateCharge = (
  caller: Pick<AuthenticatedKey, 'tenant' | 'kind'>,
  body: CreateChargeBody,
  claim: Claim | null,
) => Promise<IdempotentResponse>;

/** The response to an accepted charge. */
const acceptedAnswer = (charge: Charge) => successResponse(presentCharge(charge));

/** Accepts a charge: one commit of record, key and response, then the start of its workflow in the background. */
export function createChargeCreation(deps: {
  groupCommit: Pick<GroupCommit, 'commit'>;
  tokens: Pick<Tokens, 'get'>;
  chargeStarter: Pick<WorkflowStarter<Charge>, 'startSoon'>;
  /** The provider of a new charge: that of its token, because no other one can charge it. */
  provider(tenantId: string, tokenId: string | null): Promise<string>;
  charges: Pick<Charges, 'openOfPublicKeys'>;
  /** Open charges that the public keys of one tenant may have made. */
  maxOpenOfPublicKeys: number;
  dunningDays: number[];
  expiresAfterMs: number;
}): CreateCharge {
  const { groupCommit, chargeStarter, dunningDays } = deps;

  return async ({ tenant, kind }, body, claim) => {
    const waits = body.capture_mode === 'customer_action_required';
    // A public key is in a browser, so it may not charge a customer who is not present.
    if (kind === 'public' && !waits) throw new ApiError('forbidden');
    // Anybody who reads the key could take the tenant's references, or learn about them.
    if (kind === 'public' && body.reference !== undefined) {
      const message = 'A public key may not name a reference.';
      throw new ApiError('forbidden', { field: 'reference', message });
    }
    if (kind === 'public') await refuseFull(deps, tenant.id);
    const customer = await payerOf(deps.tokens, { tenantId: tenant.id, kind }, body);
    if (customer instanceof ApiError) {
      return refuseRequest(groupCommit, { tenantId: tenant.id, claim, error: customer });
    }
    const charge = newCharge(
      {
        tenant_id: tenant.id,
        reference: body.reference,
        amount_minor: BigInt(body.amount_minor),
        capture_mode: body.capture_mode,
        customer,
        payment_token_id: body.payment_token_id ?? null,
        return_url: body.return_url ?? null,
        description: body.description ?? null,
        metadata: body.metadata ?? null,
        ...(kind === 'public' && { made_by: 'public_key' as const }),
        provider: await deps.provider(tenant.id, body.payment_token_id ?? null),
        dunning_days: [...(tenant.dunningDays ?? dunningDays)],
        ...(waits && { expiresAfterMs: deps.expiresAfterMs }),
      },
      new Date(),
    );
    const outcome = throwIfKeyReused(
      await groupCommit.commit(acceptCharge, {
        tenantId: tenant.id,
        id: charge._id,
        charge,
        mayChangeCustomer: kind === 'secret',
        claim,
        answer: acceptedAnswer(charge),
      }),
    );
    if (outcome.resource === charge._id) chargeStarter.startSoon(charge);
    return outcome;
  };
}

/** The time after which a browser may ask again, when too many of its tenant's pages are open. */
const RETRY_AFTER_SECONDS = 60;

/**
 * Refuses another charge with a public key while the tenant has as many open ones as are allowed: each is a page that is verified
 * for a day. Requests of one moment may exceed the bound by their number. The refusal is not saved under the key.
 */
async function refuseFull(
  {
    charges,
    maxOpenOfPublicKeys: limit,
  }: Pick<Parameters<typeof createChargeCreation>[0], 'charges' | 'maxOpenOfPublicKeys'>,
  tenantId: string,
): Promise<void> {
  if ((await charges.openOfPublicKeys(tenantId, limit)) < limit) return;
  throw new ApiError('rate_limit_exceeded', {
    message: 'Too many charges that were made with public keys are open.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    details: { limit, retry_after: RETRY_AFTER_SECONDS },
  });
}

/** The paying customer: as the body names it, otherwise the token's. The commit compares both. */
async function payerOf(
  tokens: Pick<Tokens, 'get'>,
  { tenantId, kind }: { tenantId: string; kind: AuthenticatedKey['kind'] },
  { customer, customer_id: id, payment_token_id: token }: CreateChargeBody,
): Promise<Customer | ApiError> {
  if (customer !== undefined) return customerOf(customer);
  // The answer would show a browser whose token it is.
  if (kind === 'public') return noTokenOfPublicKey();
  const found = token === undefined ? null : await tokens.get(tenantId, token);
  if (!found) {
    const message = 'There is no such payment token.';
    return new ApiError('not_found', { field: 'payment_token_id', message });
  }
  if (id === undefined || id === found.customer.id) return found.customer;
  const message = 'The payment token is another customer’s.';
  return new ApiError('invalid_state', { field: 'customer_id', message });
}
