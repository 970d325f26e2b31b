import type { GroupCommit } from '../../core/commit/group-commit.js';
import { throwIfKeyReused, type Claim } from '../../core/commit/accept.js';
import { refuseRequest } from '../../core/idempotency/save-refusal.js';
import type { IdempotentResponse } from '../../core/idempotency/with-idempotency.js';
import type { CardIssuer } from '../../core/providers/card-issuer.js';
import { ProviderNotConfigured } from '../../core/providers/not-configured.js';
import { ApiError } from '../../shared/errors.js';
import type { CardAuthorization } from '../card-authorizations/record.js';
import { acceptCardDispute } from './mutations.js';
import { newCardDispute } from './record.js';
import type { CreateCardDisputeBody } from './schema.js';

/** Accepts a dispute of a payment. Its workflow starts when the operation is created. */
export type CreateCardDispute = (
  authorization: CardAuthorization,
  body: CreateCardDisputeBody,
  claim: Claim | null,
) => Promise<IdempotentResponse>;

/** The issuer of this name; null if it is not configured any more. */
export function issuerIn(
  providers: { issuer(name: string): CardIssuer },
  name: string,
): CardIssuer | null {
  try {
    return providers.issuer(name);
  } catch (error) {
    if (error instanceof ProviderNotConfigured) return null;
    throw error;
  }
}

/** Accepts a dispute: one commit of record, operation, the payment's count, key and answer. */
export function createCardDisputeCreation(deps: {
  groupCommit: Pick<GroupCommit, 'commit'>;
  /** Null if the issuer is not configured any more. */
  issuerOf: (provider: string) => Pick<CardIssuer, 'submitDispute'> | null;
}): CreateCardDispute {
  const { groupCommit, issuerOf } = deps;

  return async (authorization, body, claim) => {
    const { tenant_id: tenantId, provider } = authorization;
    if (!issuerOf(provider)?.submitDispute) {
      const message = 'The issuer of this card takes no disputes.';
      return refuseRequest(groupCommit, {
        tenantId,
        claim,
        error: new ApiError('invalid_state', { message }),
      });
    }
    const { amount_minor, reason, explanation, transaction_reference = null } = body;
    const given = { reason, explanation, transactionReference: transaction_reference };
    const accepted = {
      tenantId,
      ...newCardDispute(authorization, given, new Date()),
      amountMinor: amount_minor === undefined ? null : BigInt(amount_minor),
      claim,
    };
    return throwIfKeyReused(await groupCommit.commit(acceptCardDispute, accepted));
  };
}
