import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { searchAttributes } from '../src/transfers/search-attributes.js';

export type Attention = ReturnType<typeof createAttention>;

/**
 * The call for an operator: on the record (`record`), in the search attribute that operators list by, and in plain
 * words on the workflow's page. Raised once, also when no final answer has come by `dueAtMs`.
 */
export function createAttention(options: {
  dueAtMs: number;
  record: (reason: string) => Promise<void>;
  whatToDo: string;
}) {
  let raised: string | null = null;
  const raise = async (reason: string) => {
    if (raised === reason) return;
    const first = raised === null;
    raised = reason;
    await options.record(reason);
    if (first) upsertSearchAttributes([{ key: searchAttributes.attention, value: true }]);
    setCurrentDetails(`**Needs an operator:** ${reason}.\n\n${options.whatToDo}`);
  };
  return {
    raise,

    /** Time left until an operator has to be called; calls when it has come. */
    async dueInMs(): Promise<number> {
      if (raised !== null) return Infinity;
      const leftMs = options.dueAtMs - Date.now();
      if (leftMs > 0) return leftMs;
      await raise('no final answer from the bank in good time');
      return Infinity;
    },

    clear(details: string): void {
      if (raised !== null)
        upsertSearchAttributes([{ key: searchAttributes.attention, value: false }]);
      raised = null;
      setCurrentDetails(details);
    },
  };
}
