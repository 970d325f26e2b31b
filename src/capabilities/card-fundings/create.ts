import { acceptCardFunding } from './mutations.js';
import { newId } from '../../shared/ids.js';
import type { GroupCommit } from '../../core/commit/group-commit.js';
import {
  throwIfKeyReused,
  type SavedResponse,
  type Claim,
  successResponse,
} from '../../core/commit/accept.js';
import type { Tenant } from '../../platform/tenants/tenant.js';
import { amountWithin } from '../../platform/http/validate.js';
import type { Card } from '../cards/record.js';
import {
  newOperation,
  operationReference,
  type CardOperation,
  type Funding,
} from '../cards/card-operation.js';
import { LEAST_FUNDING_MINOR, presentOperation } from '../cards/index.js';
import type { FundBody } from './schema.js';

/** A request to fund a card. `deadlineAt` is null unless the funding is just in time. */
type FundRequest = {
  tenant: Tenant;
  card: Card;
  body: FundBody;
  claim: Claim | null;
  deadlineAt: Date | null;
};

/** Accepts a funding and returns the response. Saves it under the idempotency key, if there is one. */
export type FundCard = (
  request: FundRequest,
) => Promise<{ answer: SavedResponse; resource: string | null; replayed: boolean }>;

/** Creates the function that accepts fundings: it commits operation, hold and saved response in one transaction, then starts the workflow. */
export function createCardFunding(deps: {
  groupCommit: GroupCommit;
  starter: { startSoon(operation: CardOperation): void };
}): FundCard {
  const { groupCommit, starter } = deps;
  return async (request) => {
    const { tenant, claim } = request;
    const operation = newFunding(request, new Date());
    const outcome = throwIfKeyReused(
      await groupCommit.commit(acceptCardFunding, {
        tenantId: tenant.id,
        operation,
        claim,
        answer: successResponse(presentOperation(operation)),
      }),
    );
    if (outcome.resource === operation._id) starter.startSoon(operation);
    return outcome;
  };
}

function newFunding({ tenant, card, body, deadlineAt }: FundRequest, now: Date): Funding {
  const amountMinor = amountWithin(tenant, body, LEAST_FUNDING_MINOR);
  const name = body.transaction_reference ?? body.reference ?? null;
  const id = newId('cardOperation');
  const given = {
    _id: id,
    tenant_id: tenant.id,
    card_id: card._id,
    type: deadlineAt === null ? 'fund' : 'jit_fund',
    provider: card.provider,
    reference: name === null ? id : operationReference(card._id, name),
    transaction_reference: name,
    amount_minor: amountMinor,
    currency: body.currency,
    reason: body.reason ?? null,
    request_id: body.request_id ?? null,
    metadata: body.metadata,
    deadline_at: deadlineAt,
  } as const;
  return newOperation(given, now, 'the amount is held in the wallet') as Funding;
}
