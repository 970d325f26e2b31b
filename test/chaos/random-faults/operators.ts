import { WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import type { Filter } from 'mongodb';
import type { CardOperation } from '../../../src/capabilities/cards/card-operation.js';
import type { Charge } from '../../../src/capabilities/charges/charge.js';
import type { Refund } from '../../../src/capabilities/refunds/refund.js';
import type { InstructionRecord } from '../../../src/core/instructions/instruction.js';
import type { Transfer } from '../../../src/capabilities/transfers/transfer.js';
import type { ChaosCluster } from './cluster.js';

const PUSH = {
  reason: 'the random-fault run is over',
  actor: 'an operator',
  session_id: null,
  force: false,
};
/** Who does not come to his end by one push is pushed again. */
const AGAIN_AFTER_MS = 20_000;

/** Operators who push what they were called for, once the random-fault run is over: an order may be lost more often than is sent. */
export function createOperators({ service }: ChaosCluster) {
  const { database, transfers, cards, charges, refunds } = service.deps;
  const pushedAt = new Map<string, number>();

  async function pushAll<R extends InstructionRecord>(
    name: string,
    starters: { command(record: R, kind: 'retry', payload: typeof PUSH): Promise<unknown> },
  ): Promise<void> {
    const called = { status: { $in: ['pending', 'processing'] }, attention: { $ne: null } };
    const records = await database.db
      .collection<R>(name)
      .find(called as Filter<R>)
      .toArray();
    const due = records.filter(({ _id }) => Date.now() - (pushedAt.get(_id) ?? 0) > AGAIN_AFTER_MS);
    await Promise.all(
      due.map(async (record) => {
        pushedAt.set(record._id, Date.now());
        // Who hears nothing in time pushes again.
        await starters.command(record as unknown as R, 'retry', PUSH).catch((error: unknown) => {
          if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) throw error;
        });
      }),
    );
  }

  return {
    async push(): Promise<void> {
      await Promise.all([
        pushAll<Transfer>('transfers', transfers.starter),
        pushAll<CardOperation>('card_operations', cards.starter),
        pushAll<Charge>('charges', charges.starter),
        pushAll<Refund>('refunds', refunds.starter),
      ]);
    },
    figures: () => ({ 'operators called': pushedAt.size }),
  };
}
