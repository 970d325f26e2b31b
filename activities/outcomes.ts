import { ApprovalRefused, TargetChanged } from '../src/core/approvals/approval.js';
import { canonical } from '../src/core/audit/entry.js';
import type { FactSource } from '../src/core/instructions/fact.js';
import { instructionState, type InstructionRecord } from '../src/core/instructions/instruction.js';
import type {
  ApplyOutcomeInput,
  ApplyOutcomeResult,
  OperatorMessage,
  RecordRef,
} from '../src/core/instructions/workflow-contract.js';
import { failpoint } from '../src/shared/failpoints.js';
import { noSuch } from './errors.js';
import { load, type InstructionHandler } from './instruction-handler.js';
import { dependsOnState, policyCaseOf } from './policy-case.js';

/** Commits an outcome, by the provider or by a command of an operator. */
export async function applyOutcome<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  { operator, fact, tenantId, id, nextPollMs }: ApplyOutcomeInput<Own>,
): Promise<ApplyOutcomeResult> {
  const outcome = { fact, nextPollMs };
  if (operator) return applyOperatorOutcome(handler, { operator, ...outcome, tenantId, id });
  const { via, providerRequestId, askedMs } = fact;
  const record = await commit(handler, { tenantId, id }, outcome, {
    via,
    actor: null,
    providerRequestId,
    note: null,
    ...(askedMs !== undefined && { askedMs }),
  });
  return statusOf(record);
}

/** A command is refused if its record has changed before its commit so often. */
const MAX_DECISIONS = 5;

/**
 * Applies the outcome of an operator's command. If the policy wants the approval of a second person, a command without one
 * becomes a request, and an approval that does not permit it applies nothing. A record that changes before the commit is read
 * again, because the policy depends on its state.
 */
async function applyOperatorOutcome<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  input: ApplyOutcomeInput<Own> & { operator: OperatorMessage },
  decisions = 1,
): Promise<ApplyOutcomeResult> {
  const { operator, fact, nextPollMs, ...ref } = input;
  const { operatorActs, capability } = handler;
  const known = await operatorActs.actOf({ capability, ...ref }, operator);
  const record = await load(handler, ref);
  const asked = policyCaseOf(fact, record);
  const unapprovedState = canonical(instructionState(record));
  const act = dependsOnState(fact) ? { ...known, unapprovedState } : known;
  if (asked && act.approval === null && operatorActs.needsApproval(asked)) {
    const { _id: approval } = await operatorActs.requestApproval(act, record, operator);
    return { ...statusOf(record), approval };
  }
  const { providerRequestId } = fact;
  const source = { via: 'operator', actor: null, providerRequestId, note: null, act } as const;
  try {
    return statusOf(await commit(handler, ref, { fact, nextPollMs }, source));
  } catch (error) {
    const isChanged = error instanceof TargetChanged;
    if (isChanged && decisions < MAX_DECISIONS) {
      return applyOperatorOutcome(handler, input, decisions + 1);
    }
    if (!isChanged && !(error instanceof ApprovalRefused)) throw error;
    return { ...statusOf(await load(handler, ref)), refused: error.message };
  }
}

async function commit<R extends InstructionRecord, Own>(
  handler: InstructionHandler<R, Own>,
  ref: RecordRef,
  { fact, nextPollMs }: Pick<ApplyOutcomeInput<Own>, 'fact' | 'nextPollMs'>,
  source: FactSource,
): Promise<R> {
  failpoint('outcome.before');
  const record = await handler.apply(ref, fact, source);
  failpoint('outcome.after');
  if (!record) throw noSuch(handler.name);
  // The last poll has set the check for its own pause, which may be short, and the watchdog would find no progress in this one.
  if (nextPollMs !== undefined && record.monitor_until !== null) {
    await handler.records.postpone(ref.tenantId, ref.id, nextPollMs);
  }
  return record;
}

const statusOf = (record: InstructionRecord): ApplyOutcomeResult => ({
  status: record.status,
  attention: record.attention?.reason ?? null,
  monitored: record.monitor_until !== null,
});
