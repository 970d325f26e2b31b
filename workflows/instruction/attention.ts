import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { searchAttributes } from '../../src/platform/temporal/search-attributes.js';

/** Attention of one run. */
export type Attention = ReturnType<typeof createAttention>;

/**
 * Raises and clears attention: on the record (`record`), in the search attribute `NeedsAttention`, and in the workflow's
 * current details. A reason is raised once; `raise` never throws. Attention is also raised if there is no outcome at
 * `dueAtMs`.
 */
export function createAttention(options: {
  dueAtMs: number;
  /** The label of the provider that has not answered yet. */
  provider: string;
  record: (reason: string) => Promise<void>;
}) {
  let raised: string | null = null;
  let { dueAtMs } = options;
  const details = { call: '', provider: '', operator: '', whatToDo: '' };
  // Current details cost no event in the history, so they are set after every change.
  const showDetails = () => {
    const { call, provider, operator, whatToDo } = details;
    setCurrentDetails(
      [call, provider, operator, whatToDo].filter((part) => part !== '').join('\n\n'),
    );
  };
  // Read from the attribute, because it survives continue-as-new and a variable does not.
  const showAttribute = (value: boolean) => {
    const shown =
      workflowInfo().typedSearchAttributes.get(searchAttributes.needsAttention) ?? false;
    if (shown !== value) upsertSearchAttributes([{ key: searchAttributes.needsAttention, value }]);
  };
  const raise = async (reason: string, whatToDo: string) => {
    if (raised === reason) return;
    raised = reason;
    const recorded = await options.record(reason).then(
      () => true,
      () => false,
    );
    // The attribute is set also if the store refuses the note. The next call with this reason writes the note again.
    if (!recorded) raised = null;
    showAttribute(true);
    Object.assign(details, { call: `**Needs an operator:** ${reason}.`, whatToDo });
    showDetails();
  };
  return {
    raise,

    /** Returns the time until attention is due. If it is due now, raises it and returns infinity. */
    async dueInMs(whatToDo: string): Promise<number> {
      if (raised !== null) return Infinity;
      const leftMs = dueAtMs - Date.now();
      if (leftMs > 0) return leftMs;
      await raise(`no final answer from the ${options.provider} in good time`, whatToDo);
      return Infinity;
    },

    /** Moves the due time back to `untilMs`, because nobody was late until now. */
    postpone(untilMs: number): void {
      dueAtMs = Math.max(dueAtMs, untilMs);
    },

    /** Shows the provider's last answer, or the last operator command with its outcome. */
    showLastKnown(known: { provider: string } | { operator: string }): void {
      Object.assign(details, known);
      showDetails();
    },

    clear(whatToDo: string): void {
      raised = null;
      showAttribute(false);
      Object.assign(details, { call: '', provider: '', whatToDo });
      showDetails();
    },
  };
}
