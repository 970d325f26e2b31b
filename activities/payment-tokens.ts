import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { SetupCalls, TokenCalls } from '../src/capabilities/payment-tokens/provider-calls.js';
import type { RecurringCharges } from '../src/capabilities/recurring-charges/store.js';
import type { SetupProgress } from '../src/capabilities/payment-tokens/workflow-contract.js';
import type { ProviderFaults } from '../src/core/providers/faults.js';
import type { RecordRef } from '../src/core/instructions/workflow-contract.js';
import { noteFaults, PAYMENTS_STOPPED_BY } from './preparation.js';

/** Parts that the activities of payment tokens need. */
export type PaymentTokenActivityDeps = {
  paymentTokens: { providerCalls: TokenCalls; setupCalls: SetupCalls };
  recurringCharges: { store: Pick<RecurringCharges, 'loseToken'> };
  providerFaults: ProviderFaults;
};

/** The activities of payment tokens. Their names are in histories, so they never change. */
export function createPaymentTokenActivities(deps: PaymentTokenActivityDeps) {
  const { providerCalls, setupCalls } = deps.paymentTokens;
  const { store: recurringCharges } = deps.recurringCharges;
  const { providerFaults: faults } = deps;
  return {
    /** Opens the page of a token, or asks whether a method was saved on it. `pauseMs`: the pause that follows. */
    advanceTokenSetup: (input: RecordRef & { pauseMs: number }): Promise<SetupProgress> =>
      setupCalls.advance(input, cancellationSignal(), (provider, answer) =>
        noteFaults({ faults, stoppedBy: PAYMENTS_STOPPED_BY }, provider, answer, null),
      ),

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
