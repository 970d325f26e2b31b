import { WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import type { Filter } from 'mongodb';
import type { BillPayment } from '../../../src/capabilities/bill-payments/bill-payment.js';
import type { CardOperation } from '../../../src/capabilities/cards/card-operation.js';
import type { Charge } from '../../../src/capabilities/charges/charge.js';
import type { Deposit } from '../../../src/capabilities/deposits/deposit.js';
import type { IdentityCheck } from '../../../src/capabilities/identity-checks/identity-check.js';
import type { Refund } from '../../../src/capabilities/refunds/refund.js';
import type { VirtualAccount } from '../../../src/capabilities/virtual-accounts/virtual-account.js';
import type { InstructionRecord } from '../../../src/core/instructions/instruction.js';
import type { Transfer } from '../../../src/capabilities/transfers/transfer.js';
import { approvedPayload } from '../../support/approvals.js';
import type { ChaosCluster } from './cluster.js';
import { createSuspense } from './suspense.js';

const PUSH = {
  reason: 'the random-fault run is over',
  actor: 'an operator',
  session_id: null,
  force: false,
};
/** Pause before a record that is still open gets another retry command. */
const AGAIN_AFTER_MS = 20_000;

/** Reasons of attention for what a provider does not have and would execute again, or cannot rule out. */
const LOST = ['would not recognize', 'cannot rule it out'];
/** The reason for a deposit that was reported and does not exist. */
const NO_DEPOSIT = ['does not know it any more'];

const isUnknown = (collection: string, { attention }: InstructionRecord): boolean =>
  (collection === 'deposits' ? NO_DEPOSIT : LOST).some((reason) =>
    attention?.reason.includes(reason),
  );

/** Operators who retry the records that need attention after the run: a provider may lose every automatic submission. */
export function createOperators({ service }: Pick<ChaosCluster, 'service'>) {
  const { database, transfers, cards, charges, refunds, billPayments, identityChecks } =
    service.deps;
  const { virtualAccounts, deposits } = service.deps;
  const pushedAt = new Map<string, number>();
  const suspense = createSuspense({ service });

  async function pushAll<R extends InstructionRecord>(
    [name, capability]: readonly [collection: string, capability: string],
    starters: {
      command(record: R, kind: 'retry' | 'fail', payload: typeof PUSH): Promise<unknown>;
    },
  ): Promise<void> {
    const called = { status: { $in: ['pending', 'processing'] }, attention: { $ne: null } };
    const records = await database.db
      .collection<R>(name)
      .find(called as Filter<R>)
      .toArray();
    const due = records.filter(({ _id }) => Date.now() - (pushedAt.get(_id) ?? 0) > AGAIN_AFTER_MS);
    await Promise.all(
      due.map(async (record) => {
        const pushed = pushedAt.has(record._id);
        pushedAt.set(record._id, Date.now());
        // The bank has no record of it, so an operator fails it at the second look.
        const isLost = pushed && isUnknown(name, record);
        const [kind, payload] = isLost
          ? (['fail', await approvedPayload(service.deps, capability, record, PUSH)] as const)
          : (['retry', PUSH] as const);
        // A command without an answer in time is repeated by a later call.
        const command = starters.command(record as unknown as R, kind, payload);
        await command.catch((error: unknown) => {
          if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) throw error;
        });
      }),
    );
  }

  /** Monitoring lasts a day. The run ends it, as if the day were over. */
  async function endMonitoring(): Promise<void> {
    const now = new Date();
    const monitored = { status: 'failed', monitor_until: { $gt: now } };
    const monitoredIn = [
      'transfers',
      'card_operations',
      'charges',
      'refunds',
      'bill_payments',
      'deposits',
    ];
    for (const name of monitoredIn) {
      await database.db.collection(name).updateMany(monitored, { $set: { monitor_until: now } });
    }
  }

  return {
    async push(): Promise<void> {
      await endMonitoring();
      await Promise.all([
        pushAll<Transfer>(['transfers', 'transfers'], transfers.starter),
        pushAll<CardOperation>(['card_operations', 'cards'], cards.starter),
        pushAll<Charge>(['charges', 'charges'], charges.starter),
        pushAll<Refund>(['refunds', 'refunds'], refunds.starter),
        pushAll<BillPayment>(['bill_payments', 'bill-payments'], billPayments.starter),
        pushAll<IdentityCheck>(['identity_checks', 'identity-checks'], identityChecks.starter),
        pushAll<VirtualAccount>(['virtual_accounts', 'virtual-accounts'], virtualAccounts.starter),
        pushAll<Deposit>(['deposits', 'deposits'], deposits.starter),
      ]);
      for (const deposit of await suspense.undecided()) await suspense.assign(deposit);
    },
    figures: () => ({ 'operators called': pushedAt.size }),
  };
}
