import type { Document } from 'mongodb';
import {
  billPaymentWorkflowId,
  type BillPayment,
} from '../../src/capabilities/bill-payments/record.js';
import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { operationWorkflowId } from '../../src/capabilities/cards/workflow-contract.js';
import {
  identityCheckWorkflowId,
  type IdentityCheck,
} from '../../src/capabilities/identity-checks/record.js';
import { chargeWorkflowId, type Charge } from '../../src/capabilities/charges/record.js';
import { refundWorkflowId, type Refund } from '../../src/capabilities/refunds/record.js';
import type { Deposit } from '../../src/capabilities/deposits/record.js';
import { depositWorkflowId } from '../../src/capabilities/deposits/workflow-contract.js';
import type { VirtualAccount } from '../../src/capabilities/virtual-accounts/record.js';
import { accountWorkflowId } from '../../src/capabilities/virtual-accounts/workflow-contract.js';
import { transferWorkflowId, type Transfer } from '../../src/capabilities/transfers/record.js';
import type { Deps } from '../../src/composition/deps.js';

/** The collections of records that a workflow works on until they have ended, and the id of a record's workflow. */
const WORKFLOW_IDS = {
  transfers: ({ _id }: Transfer) => transferWorkflowId(_id),
  card_operations: operationWorkflowId as (operation: CardOperation) => string,
  charges: ({ _id }: Charge) => chargeWorkflowId(_id),
  refunds: ({ _id }: Refund) => refundWorkflowId(_id),
  virtual_accounts: accountWorkflowId as (account: VirtualAccount) => string,
  deposits: depositWorkflowId as (deposit: Deposit) => string,
  identity_checks: ({ _id }: IdentityCheck) => identityCheckWorkflowId(_id),
  bill_payments: ({ _id }: BillPayment) => billPaymentWorkflowId(_id),
};
/** The names of these collections. */
export const INSTRUCTIONS = Object.keys(WORKFLOW_IDS);

/** Deletes a service's Schedules. Otherwise Temporal would start their workflows, some of them every two seconds, until the run ends. */
export async function deleteSchedules({ temporal: { client }, config }: Deps): Promise<void> {
  for await (const { scheduleId } of client.schedule.list()) {
    if (!scheduleId.includes(config.temporal.taskQueue)) continue;
    const deleted = client.schedule.getHandle(scheduleId).delete();
    await deleted.catch(() => null);
  }
}

/** Ends the workflows of a service's records that have not ended. */
export async function terminateOpen({ database: { db }, temporal }: Deps): Promise<void> {
  const unfinished = {
    $or: [{ status: { $in: ['pending', 'processing'] } }, { next_check_at: { $type: 'date' } }],
  };
  const found = Object.entries(WORKFLOW_IDS).map(async ([name, workflowId]) => {
    const records = await db.collection(name).find(unfinished).toArray();
    return records.map((record) => (workflowId as (record: Document) => string)(record));
  });
  const ids = new Set((await Promise.all(found)).flat());
  const terminate = (id: string) =>
    temporal.client.workflow
      .getHandle(id)
      .terminate('the test is over')
      .catch(() => null);
  await Promise.all([...ids].map(terminate));
}

/**
 * Ends the checks of a shared service's records, such as charges whose pages nobody has paid: otherwise it would ask the bank about
 * them, every two seconds, for all later test files.
 */
export async function endChecks(deps: Deps): Promise<void> {
  await terminateOpen(deps);
  const isChecked = { next_check_at: { $type: 'date' } };
  const { db } = deps.database;
  await Promise.all(
    INSTRUCTIONS.map((name) =>
      db.collection(name).updateMany(isChecked, { $set: { next_check_at: null } }),
    ),
  );
}
