import { createActivities } from '../../activities/index.js';
import { withEmptyParts } from '../support/parts.js';
import { billPaymentWorkflowId } from '../../src/capabilities/bill-payments/record.js';
import { bulkTransferWorkflowId } from '../../src/capabilities/bulk-transfers/record.js';
import { authorizationWorkflowId } from '../../src/capabilities/card-authorizations/workflow-contract.js';
import {
  providerEventWorkflowId,
  providerEventReplayWorkflowId,
} from '../../src/core/provider-events/workflow-contract.js';
import type { CardOperationType } from '../../src/capabilities/cards/card-operation.js';
import { operationWorkflowId } from '../../src/capabilities/cards/workflow-contract.js';
import { renewalWorkflowId, scheduleId } from '../../src/capabilities/recurring-charges/record.js';
import { chargeWorkflowId } from '../../src/capabilities/charges/record.js';
import { identityCheckWorkflowId } from '../../src/capabilities/identity-checks/record.js';
import { refundWorkflowId } from '../../src/capabilities/refunds/record.js';
import {
  accountRateLimitKey,
  billRateLimitKey,
  bulkTransfersQueue,
  identityRateLimitKey,
  issuerRateLimitKey,
  paymentRateLimitKey,
  providerQueue,
  transferRateLimitKey,
  providerEventReplaysQueue,
} from '../../src/platform/temporal/queues.js';
import { auditVerificationId } from '../../src/core/audit/workflow-contract.js';
import { ledgerClosingId } from '../../src/core/ledger/workflow-contract.js';
import { OPERATOR_COMMANDS } from '../../src/core/instructions/operator-commands.js';
import { searchAttributes } from '../../src/platform/temporal/search-attributes.js';
import { transferMicroBatchWorkflowId } from '../../src/capabilities/transfers/workflow-starter.js';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import {
  recordReconciliationId,
  statementReconciliationId,
} from '../../src/core/reconciliation/workflow-contract.js';
import { transferReconciliationId } from '../../src/capabilities/transfers/workflow-contract.js';
import {
  depositReconciliationId,
  depositWorkflowId,
} from '../../src/capabilities/deposits/workflow-contract.js';
import { accountWorkflowId } from '../../src/capabilities/virtual-accounts/workflow-contract.js';
import { deliveryWorkflowId } from '../../src/core/webhooks/workflow-contract.js';
import { webhooksQueue } from '../../src/platform/temporal/queues.js';
import * as workflows from '../../workflows/index.js';
import { recordChangedSignal } from '../../workflows/instruction/operator-messages.js';

describe('names in histories, saved queries and scripts', () => {
  test('workflows, their ids, signals and queues', () => {
    expect(Object.keys(workflows).toSorted()).toEqual([
      'auditVerification',
      'billPayment',
      'bulkTransfer',
      'cardAuthorization',
      'cardDispute',
      'cardDisputeWatch',
      'cardFunding',
      'cardIssuance',
      'cardState',
      'cardUnload',
      'charge',
      'depositConfirmation',
      'depositReconciliation',
      'depositReturn',
      'identityCheck',
      'ledgerClosing',
      'paymentTokenRevocation',
      'paymentTokenSetup',
      'providerEvent',
      'providerEventReplay',
      'recordReconciliation',
      'recurringChargeRenewal',
      'refund',
      'statementReconciliation',
      'transfer',
      'transferMicroBatch',
      'transferReconciliation',
      'virtualAccountAssignment',
      'virtualAccountClosing',
      'webhookDelivery',
    ]);
    expect(billPaymentWorkflowId('bil_1')).toBe('bill-payment/bil_1');
    expect(bulkTransferWorkflowId('btr_1')).toBe('bulk-transfer/btr_1');
    expect(transferMicroBatchWorkflowId('trf_1')).toBe('transfer-micro-batch/trf_1');
    expect(bulkTransfersQueue('bursar', 'sandbox-bank')).toBe('bursar-sandbox-bank-bulk-transfers');
    expect(deliveryWorkflowId('whe_1')).toBe('webhook-delivery/whe_1');
    expect(webhooksQueue('bursar')).toBe('bursar-webhooks');
    expect(providerEventWorkflowId('pev_1')).toBe('provider-event/pev_1');
    expect(providerEventReplayWorkflowId('rpl_1')).toBe('provider-event-replay/rpl_1');
    expect(providerEventReplaysQueue('bursar')).toBe('bursar-provider-event-replays');
    expect(transferWorkflowId('trf_1')).toBe('transfer/trf_1');
    expect(transferReconciliationId('bursar', 'sandbox-bank')).toBe(
      'transfer-reconciliation/bursar/sandbox-bank',
    );
    expect(recordReconciliationId('bursar', 'charges')).toBe(
      'record-reconciliation/bursar/charges',
    );
    expect(statementReconciliationId('bursar', 'paystack')).toBe(
      'statement-reconciliation/bursar/paystack',
    );
    expect(ledgerClosingId('bursar')).toBe('ledger-closing/bursar');
    expect(auditVerificationId('bursar')).toBe('audit-verification/bursar');
    const operation = (type: CardOperationType, reversed: string | null = null) =>
      operationWorkflowId({
        _id: 'cop_1',
        type,
        card_id: 'crd_1',
        reverses_operation_id: reversed,
      });
    expect(operation('issue')).toBe('card-issuance/cop_1');
    for (const type of ['fund', 'jit_fund', 'auto_reload'] as const) {
      expect(operation(type)).toBe('card-funding/cop_1');
    }
    expect(operation('fund_reversal', 'cop_2')).toBe('card-funding/cop_2');
    expect(operation('unload')).toBe('card-unload/cop_1');
    expect(operation('dispute')).toBe('card-dispute/cop_1');
    expect(operation('dispute_withdrawal')).toBe('card-dispute/cop_1');
    for (const type of ['lock', 'unlock', 'close'] as const) {
      expect(operation(type)).toBe('card-state/crd_1');
    }
    expect(renewalWorkflowId('rec_1')).toBe('recurring-charge-renewal/rec_1');
    expect(scheduleId('rec_1')).toBe('recurring-charge/rec_1');
    expect(chargeWorkflowId('chg_1')).toBe('charge/chg_1');
    expect(refundWorkflowId('ref_1')).toBe('refund/ref_1');
    expect(identityCheckWorkflowId('kyc_1')).toBe('identity-check/kyc_1');
    expect(authorizationWorkflowId('aut_1')).toBe('card-authorization/aut_1');
    expect(recordChangedSignal.name).toBe('recordChanged');
    expect(OPERATOR_COMMANDS).toEqual(['retry', 'verify', 'complete', 'fail']);
    expect(providerQueue('bursar', transferRateLimitKey('sandbox-bank'))).toBe(
      'bursar-sandbox-bank-transfers',
    );
    expect(issuerRateLimitKey('sandbox-bank')).toBe('sandbox-bank-cards');
    expect(accountWorkflowId({ _id: 'va_1', instruction: 'assign' })).toBe(
      'virtual-account-assignment/va_1',
    );
    expect(accountWorkflowId({ _id: 'va_1', instruction: 'close' })).toBe(
      'virtual-account-closing/va_1',
    );
    expect(depositWorkflowId({ _id: 'dep_1', instruction: 'confirm' })).toBe(
      'deposit-confirmation/dep_1',
    );
    expect(depositWorkflowId({ _id: 'dep_1', instruction: 'return' })).toBe('deposit-return/dep_1');
    expect(depositReconciliationId('bursar', 'sandbox-bank')).toBe(
      'deposit-reconciliation/bursar/sandbox-bank',
    );
    expect(accountRateLimitKey('sandbox-bank')).toBe('sandbox-bank-accounts');
    expect(paymentRateLimitKey('sandbox-bank')).toBe('sandbox-bank-payments');
    expect(identityRateLimitKey('sandbox-bank')).toBe('sandbox-bank-identity');
    expect(billRateLimitKey('sandbox-bank')).toBe('sandbox-bank-bills');
  });

  test('activities', () => {
    // Only names are read, so every capability may be without parts.
    const activities = createActivities(withEmptyParts({}));
    expect(Object.keys(activities).toSorted()).toEqual([
      'advanceTokenSetup',
      'applyBillPaymentOutcome',
      'applyCardDisputeOutcome',
      'applyCardFundingOutcome',
      'applyCardIssuanceOutcome',
      'applyCardStateOutcome',
      'applyCardUnloadOutcome',
      'applyChargeOutcome',
      'applyDepositConfirmationOutcome',
      'applyDepositReturnOutcome',
      'applyIdentityCheckOutcome',
      'applyProviderEvent',
      'applyRefundOutcome',
      'applyTransferOutcome',
      'applyVirtualAccountAssignmentOutcome',
      'applyVirtualAccountClosingOutcome',
      'askAboutCardDispute',
      'attestAbsence',
      'chargeRecurringPeriod',
      'checkCardAuthorizationHold',
      'checkOpenCardDispute',
      'closeLedgerDays',
      'completeBulkTransfer',
      'deliverWebhooks',
      'expireCardFunding',
      'findNextCardState',
      'raiseAttention',
      'readInstructionStatus',
      'reconcileDeposits',
      'reconcileRecords',
      'reconcileStatements',
      'reconcileTransfers',
      'recordCancellationRequest',
      'recordOperatorCommand',
      'replayProviderEvent',
      'resolveRecipient',
      'revokePaymentToken',
      'scheduleTransferWorkflows',
      'submitBillPayment',
      'submitBillPaymentLocally',
      'submitBulkTransferChunk',
      'submitCardDispute',
      'submitCardDisputeLocally',
      'submitCardFunding',
      'submitCardFundingLocally',
      'submitCardIssuance',
      'submitCardIssuanceLocally',
      'submitCardState',
      'submitCardStateLocally',
      'submitCardUnload',
      'submitCardUnloadLocally',
      'submitCharge',
      'submitChargeLocally',
      'submitDepositConfirmation',
      'submitDepositConfirmationLocally',
      'submitDepositReturn',
      'submitDepositReturnLocally',
      'submitIdentityCheck',
      'submitIdentityCheckLocally',
      'submitRefund',
      'submitRefundLocally',
      'submitTransfer',
      'submitTransferLocally',
      'submitTransferMicroBatch',
      'submitVirtualAccountAssignment',
      'submitVirtualAccountAssignmentLocally',
      'submitVirtualAccountClosing',
      'submitVirtualAccountClosingLocally',
      'verifyAuditLog',
      'verifyBillPayment',
      'verifyCardAuthorization',
      'verifyCardDispute',
      'verifyCardFunding',
      'verifyCardIssuance',
      'verifyCardState',
      'verifyCardUnload',
      'verifyCharge',
      'verifyDepositConfirmation',
      'verifyDepositReturn',
      'verifyIdentityCheck',
      'verifyRefund',
      'verifyTransfer',
      'verifyVirtualAccountAssignment',
      'verifyVirtualAccountClosing',
    ]);
  });

  test('search attributes', () => {
    const names = Object.values(searchAttributes).map(({ name, type }) => [name, type]);
    expect(names).toEqual([
      ['TenantId', 'KEYWORD'],
      ['Provider', 'KEYWORD'],
      ['Reference', 'KEYWORD'],
      ['AmountMinor', 'INT'],
      ['NeedsAttention', 'BOOL'],
    ]);
  });
});
