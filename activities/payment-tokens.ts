import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { TokenCalls } from '../src/capabilities/payment-tokens/provider-calls.js';
import type { RecurringCharges } from '../src/capabilities/recurring-charges/store.js';
import type { RecordRef } from '../src/core/instructions/workflow-contract.js';

/** Parts that the activity of payment tokens needs. */
export type PaymentTokenActivityDeps = {
  paymentTokens: { providerCalls: TokenCalls };
  recurringCharges: { store: Pick<RecurringCharges, 'loseToken'> };
};

/** The activity of payment tokens. Its name is in histories, so it never changes. */
export function createPaymentTokenActivities(deps: PaymentTokenActivityDeps) {
  const { providerCalls } = deps.paymentTokens;
  const { store: recurringCharges } = deps.recurringCharges;
  return {
    /**
     * Ends what a deleted token leaves: its recurring charges become past due, and the provider revokes its authorization.
     * Fails, and is retried, until the provider has revoked it.
     */
    async revokePaymentToken({ tenantId, id }: RecordRef): Promise<void> {
      await recurringCharges.loseToken(tenantId, id);
      const open = await providerCalls.revoke(tenantId, id, cancellationSignal());
      if (open === null) return;
      throw ApplicationFailure.retryable(`not revoked yet: ${open}`, 'NotRevoked');
    },
  };
}
