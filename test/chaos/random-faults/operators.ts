import { isGrpcServiceError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import type { InstructionRecord } from '../../../src/core/instructions/instruction.js';
import { isDatabaseUnavailable } from '../../../src/platform/database/unavailable.js';
import { OverloadError } from '../../../src/shared/batching.js';
import { ApiError } from '../../../src/shared/errors.js';
import { approvedPayload } from '../../support/approvals.js';
import type { ChaosCluster } from './cluster.js';
import { createPaymentOperators } from './payment-operators.js';
import { createSuspense } from './suspense.js';

const FAILED_PRECONDITION = 9;

const PUSH = {
  reason: 'the random-fault run is over',
  actor: 'an operator',
  session_id: null,
  force: false,
};
const isBusy = (error: unknown): boolean =>
  error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
  error instanceof OverloadError ||
  isDatabaseUnavailable(error) ||
  (isGrpcServiceError(error) && error.code === FAILED_PRECONDITION) ||
  (error instanceof ApiError && error.code === 'service_unavailable');

/** Lets an act that the loaded service refused be repeated later; throws any other error. */
export const unlessBusy = (error: unknown): void => {
  if (!isBusy(error)) throw error;
};

/** Pause before a record that is still open gets another retry command. */
const AGAIN_AFTER_MS = 20_000;

/** Instructions of one kind: their collection, the folder of their capability, and the commands of their workflows. */
type Instructions = {
  collection: string;
  capability: string;
  starter: {
    command(record: never, kind: 'retry' | 'fail', payload: typeof PUSH): Promise<unknown>;
  };
};
/** Reasons of attention for what a provider does not have and would execute again, or cannot rule out. */
const LOST = ['would not recognize', 'cannot rule it out'];
/** The reason for a deposit that was reported and does not exist. */
const NO_DEPOSIT = ['does not know it any more'];

/** A record with its present instruction, if its kind has several. */
type Instructed = InstructionRecord & { instruction?: string };

function isUnknown(collection: string, { attention, instruction }: Instructed): boolean {
  const isDeposit = collection === 'deposits' && instruction !== 'return';
  return (isDeposit ? NO_DEPOSIT : LOST).some((reason) => attention?.reason.includes(reason));
}

/** Operators who retry the records that need attention after the run: a provider may lose every automatic submission. */
export function createOperators({ service }: Pick<ChaosCluster, 'service'>) {
  const { database, transfers, cards, charges, refunds, billPayments, identityChecks } =
    service.deps;
  const { virtualAccounts, deposits } = service.deps;
  const all: readonly Instructions[] = [
    { collection: 'transfers', capability: 'transfers', starter: transfers.starter },
    { collection: 'card_operations', capability: 'cards', starter: cards.starter },
    { collection: 'charges', capability: 'charges', starter: charges.starter },
    { collection: 'refunds', capability: 'refunds', starter: refunds.starter },
    { collection: 'bill_payments', capability: 'bill-payments', starter: billPayments.starter },
    {
      collection: 'identity_checks',
      capability: 'identity-checks',
      starter: identityChecks.starter,
    },
    {
      collection: 'virtual_accounts',
      capability: 'virtual-accounts',
      starter: virtualAccounts.starter,
    },
    { collection: 'deposits', capability: 'deposits', starter: deposits.starter },
  ];
  const pushedAt = new Map<string, number>();
  const suspense = createSuspense({ service });
  const payments = createPaymentOperators({ service });

  async function pushAll({ collection, capability, starter }: Instructions): Promise<void> {
    const records = await database.db
      .collection<InstructionRecord>(collection)
      .find({
        status: { $in: ['pending', 'processing'] },
        attention: { $ne: null },
        // A charge whose payment is in suspense is decided below.
        'suspended.0': { $exists: false },
      })
      .toArray();
    const due = records.filter(({ _id }) => Date.now() - (pushedAt.get(_id) ?? 0) > AGAIN_AFTER_MS);
    await Promise.all(
      due.map(async (record) => {
        const pushed = pushedAt.has(record._id);
        pushedAt.set(record._id, Date.now());
        // The bank has no record of it, so an operator fails it at the second look.
        const isLost = pushed && isUnknown(collection, record);
        const act = async () => {
          const [kind, payload] = isLost
            ? (['fail', await approvedPayload(service.deps, capability, record, PUSH)] as const)
            : (['retry', PUSH] as const);
          await starter.command(record as never, kind, payload);
        };
        // An act without an answer in time is repeated by a later call, as is one whose workflow task a killed worker has, and one
        // for which the audit log had no room.
        await act().catch(unlessBusy);
      }),
    );
  }

  /** Monitoring lasts a day. The run ends it, as if the day were over. */
  async function endMonitoring(): Promise<void> {
    const now = new Date();
    const monitored = { status: 'failed', monitor_until: { $gt: now } };
    for (const { collection } of all) {
      await database.db
        .collection(collection)
        .updateMany(monitored, { $set: { monitor_until: now } });
    }
  }

  async function endSuspense(): Promise<void> {
    for (const deposit of await suspense.undecided()) await suspense.assign(deposit);
    for (const deposit of await suspense.owed()) await suspense.acknowledge(deposit);
  }

  /** Ends what waits for an operator with charges and refunds. */
  async function endPayments(): Promise<void> {
    for (const charge of await payments.undecided()) await payments.giveBack(charge);
    await payments.nameAccounts();
    await payments.standByDeskRefunds();
  }

  return {
    async push(): Promise<void> {
      await endMonitoring().catch(unlessBusy);
      await Promise.all(all.map((kind) => pushAll(kind).catch(unlessBusy)));
      await endSuspense().catch(unlessBusy);
      await endPayments().catch(unlessBusy);
    },
    figures: () => ({ 'operators called': pushedAt.size }),
  };
}
