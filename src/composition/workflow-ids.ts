import { billPaymentWorkflowId } from '../capabilities/bill-payments/record.js';
import { bulkTransferWorkflowId } from '../capabilities/bulk-transfers/record.js';
import { authorizationWorkflowId } from '../capabilities/card-authorizations/workflow-contract.js';
import { disputeWatchWorkflowId } from '../capabilities/card-disputes/workflow-contract.js';
import type { CardOperation } from '../capabilities/cards/card-operation.js';
import { operationWorkflowId } from '../capabilities/cards/workflow-contract.js';
import { chargeWorkflowId } from '../capabilities/charges/record.js';
import type { Deposit } from '../capabilities/deposits/record.js';
import { depositWorkflowId } from '../capabilities/deposits/workflow-contract.js';
import { identityCheckWorkflowId } from '../capabilities/identity-checks/record.js';
import { revocationWorkflowId } from '../capabilities/payment-tokens/record.js';
import { renewalWorkflowId } from '../capabilities/recurring-charges/record.js';
import { refundWorkflowId } from '../capabilities/refunds/record.js';
import { transferWorkflowId } from '../capabilities/transfers/record.js';
import type { VirtualAccount } from '../capabilities/virtual-accounts/record.js';
import { accountWorkflowId } from '../capabilities/virtual-accounts/workflow-contract.js';
import {
  providerEventReplayWorkflowId,
  providerEventWorkflowId,
} from '../core/provider-events/workflow-contract.js';
import { logIdsOf as idsOfRecord } from '../core/supervision/attention-log.js';

type Named = { _id: string };
const byId =
  (idOf: (id: string) => string) =>
  ({ _id }: Named) =>
    idOf(_id);
/** Records of one collection have one type. */
const typed = <R extends Named>(idOf: (record: R) => string) => idOf as (record: Named) => string;

/** The id of the workflow that an operator finds a record by, by the collection of the record. */
export const workflowIds: Readonly<Record<string, (record: Named) => string>> = {
  transfers: byId(transferWorkflowId),
  bulk_transfers: byId(bulkTransferWorkflowId),
  card_operations: typed<CardOperation>(operationWorkflowId),
  card_authorizations: byId(authorizationWorkflowId),
  card_disputes: byId(disputeWatchWorkflowId),
  charges: byId(chargeWorkflowId),
  refunds: byId(refundWorkflowId),
  bill_payments: byId(billPaymentWorkflowId),
  identity_checks: byId(identityCheckWorkflowId),
  payment_tokens: byId(revocationWorkflowId),
  recurring_charges: byId(renewalWorkflowId),
  virtual_accounts: typed<VirtualAccount>(accountWorkflowId),
  deposits: typed<Deposit>(depositWorkflowId),
  provider_events: byId(providerEventWorkflowId),
  provider_event_replays: byId(providerEventReplayWorkflowId),
};

/** The ids of a record for a log line about it. */
export const logIdsOf = (collection: string, record: Named & { tenant_id?: string | null }) =>
  idsOfRecord(record, workflowIds[collection]?.(record));
