import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { searchAttributes } from '../../src/platform/temporal/search-attributes.js';

export type Attention = ReturnType<typeof createAttention>;

/**
 * The call for an operator: on the record (`record`), in the search attribute that operators list by, and in plain
 * words on the workflow's page. Raised once for a reason, also when no final answer has come by `dueAtMs`.
 */
export function createAttention(options: {
  dueAtMs: number;
  /** Who is waited for. */
  provider: string;
  record: (reason: string) => Promise<void>;
}) {
  let raised: string | null = null;
  let { dueAtMs } = options;
  const details = { call: '', provider: '', operator: '', whatToDo: '' };
  // Costs no event: the page is drawn anew whenever something is learned.
  const showDetails = () => {
    const { call, provider, operator, whatToDo } = details;
    setCurrentDetails(
      [call, provider, operator, whatToDo].filter((part) => part !== '').join('\n\n'),
    );
  };
  // The attribute outlives this run (continue-as-new), so it is the attribute that is asked, not a variable.
  const show = (value: boolean) => {
    const shown =
      workflowInfo().typedSearchAttributes.get(searchAttributes.needsAttention) ?? false;
    if (shown !== value) upsertSearchAttributes([{ key: searchAttributes.needsAttention, value }]);
  };
  const raise = async (reason: string, whatToDo: string) => {
    if (raised === reason) return;
    raised = reason;
    await options.record(reason);
    show(true);
    Object.assign(details, { call: `**Needs an operator:** ${reason}.`, whatToDo });
    showDetails();
  };
  return {
    raise,

    /** Time left until an operator has to be called; calls when it has come. */
    async dueInMs(whatToDo: string): Promise<number> {
      if (raised !== null) return Infinity;
      const leftMs = dueAtMs - Date.now();
      if (leftMs > 0) return leftMs;
      await raise(`no final answer from the ${options.provider} in good time`, whatToDo);
      return Infinity;
    },

    /** Nobody was late so far: counted from now on. */
    postpone(untilMs: number): void {
      dueAtMs = Math.max(dueAtMs, untilMs);
    },

    /** What the provider said last, or what came of an operator's last command, for the page. */
    showLastKnown(known: { provider: string } | { operator: string }): void {
      Object.assign(details, known);
      showDetails();
    },

    clear(details: string): void {
      raised = null;
      show(false);
      Object.assign(details, { call: '', provider: '', whatToDo: details });
      showDetails();
    },
  };
}
