import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { TokenRevocationInput } from '../src/capabilities/payment-tokens/workflow-contract.js';
import { ownWork } from './policies.js';

/**
 * Has the authorization of one deleted payment token revoked by its provider, for as long as that takes. Its id is
 * `payment-token-revocation/<token id>`.
 */
export async function paymentTokenRevocation(input: TokenRevocationInput): Promise<void> {
  const { tenantId, id, taskQueue } = input;
  const { revokePaymentToken } = proxyActivities<Activities>({ ...ownWork, taskQueue });
  await revokePaymentToken({ tenantId, id });
}
