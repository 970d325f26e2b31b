import type { Transfer } from '../../src/transfers/transfer.js';
import type { StormStage } from './stage.js';

const PUSH = { reason: 'the storm is over', actor: 'an operator', session_id: null, force: false };

/** Operators who push what they were called for, once the storm is over: some orders were lost four times. */
export function createOperators({ service }: StormStage) {
  const { database, starter } = service.deps;
  const transfers = database.db.collection<Transfer>('transfers');
  const pushed = new Set<string>();
  return {
    async push(): Promise<void> {
      const called = await transfers
        .find({ status: { $in: ['pending', 'processing'] }, attention: { $ne: null } })
        .toArray();
      for (const transfer of called) {
        if (pushed.has(transfer._id)) continue;
        pushed.add(transfer._id);
        await starter.command(transfer, 'retry', PUSH);
      }
    },
    figures: () => ({ 'operators called': pushed.size }),
  };
}
