import type { GroupCommit } from '../../core/commit/group-commit.js';
import { successResponse, throwIfKeyReused, type Claim } from '../../core/commit/accept.js';
import type { IdempotentResponse } from '../../core/idempotency/with-idempotency.js';
import type {
  CheckSubject,
  CheckType,
  IdentityProvider,
} from '../../core/providers/identity-provider.js';
import type { WorkflowStarter } from '../../core/supervision/workflow-starter.js';
import type { Sealing } from '../../platform/sealing/sealing.js';
import { ApiError } from '../../shared/errors.js';
import { newId } from '../../shared/ids.js';
import { customerRecordId } from '../customers/record.js';
import { newIdentityCheck, numberOf, subjectPlace, type IdentityCheck } from './record.js';
import { acceptIdentityCheck } from './mutations.js';
import { presentCheck } from './presenter.js';

/** A request to verify a customer. */
export type VerifyCustomer = {
  tenantId: string;
  customerId: string;
  checkType: CheckType;
  subject: CheckSubject;
};

/** Accepts a check and starts its workflow. */
export type CreateIdentityCheck = (
  request: VerifyCustomer,
  claim: Claim | null,
) => Promise<IdempotentResponse>;

/** The purpose of the blind index of a number. */
const NUMBER = 'identity_checks.number';

/**
 * Accepts a check: one commit of record, customer, key and answer; then the start of its workflow. From here on the
 * subject is sealed. `provider` throws `feature_not_enabled` if new checks have none.
 */
export function createIdentityCheckCreation(deps: {
  groupCommit: Pick<GroupCommit, 'commit'>;
  starter: Pick<WorkflowStarter<IdentityCheck>, 'startSoon'>;
  provider: () => Pick<IdentityProvider, 'name' | 'identity'>;
  sealing: Sealing;
}): CreateIdentityCheck {
  const { groupCommit, starter, sealing } = deps;

  return async ({ tenantId, customerId, checkType, subject }, claim) => {
    const provider = deps.provider();
    if (!provider.identity.checks.includes(checkType)) {
      const message = `Checks of a ${checkType} are not offered.`;
      throw new ApiError('feature_not_enabled', { field: 'check_type', message });
    }
    const id = newId('identityCheck');
    const number = numberOf(subject);
    const check = newIdentityCheck(
      {
        _id: id,
        tenant_id: tenantId,
        customer_id: customerId,
        customer: customerRecordId(tenantId, customerId),
        check_type: checkType,
        provider: provider.name,
        sealed: sealing.seal(JSON.stringify(subject), subjectPlace(id)),
        last4: number.slice(-4),
        number_index: sealing.blindIndex(number, NUMBER),
      },
      new Date(),
    );
    const { onePerCustomer } = provider.identity;
    const answer = successResponse(presentCheck(check));
    const input = { tenantId, id, check, onePerCustomer, claim, answer };
    const outcome = throwIfKeyReused(await groupCommit.commit(acceptIdentityCheck, input));
    if (outcome.resource === id) starter.startSoon(check);
    return outcome;
  };
}
