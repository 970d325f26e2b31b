import { randomUUID } from 'node:crypto';
import type { Deps } from '../../src/composition/deps.js';
import type { Act } from '../../src/core/audit/entry.js';
import type { InstructionRecord } from '../../src/core/instructions/instruction.js';
import type { OperatorPayload } from '../../src/core/instructions/workflow-contract.js';

type Stores = Pick<Deps, 'approvals' | 'operatorActs'>;

/**
 * The payload of a forced command that a second person has approved, as the operator API sends it: the request, the approval
 * and the stored command are in the database.
 */
export async function approvedPayload<P extends Omit<OperatorPayload, 'command'>>(
  { approvals, operatorActs }: Stores,
  capability: string,
  { _id: target, tenant_id: tenantId }: Pick<InstructionRecord, '_id' | 'tenant_id'>,
  payload: P,
  kind: 'fail' | 'complete' = 'fail',
): Promise<P & { command: string; force: true }> {
  const act = (name: string, action: string, approval: string | null = null): Act => ({
    id: randomUUID(),
    actor: { operator: `opr_${name}`, name, roles: ['operator'] },
    action,
    target,
    tenantId,
    reason: payload.reason,
    requestId: null,
    approval,
  });
  const request = await approvals.request(act('ada', `${capability}.${kind}`), {
    target_state: null,
    evidence: 'the test says so',
    input: { params: { id: target }, body: {} },
  });
  const { actor } = act('bayo', '');
  await approvals.change(act('bayo', 'approvals.approve'), request, {
    status: 'approved',
    decided_by: actor,
    decided_at: new Date(),
  });
  const { session_id: sessionId, amount_minor: amountMinor } = payload;
  const input = { force: true, sessionId, amountMinor: amountMinor ?? undefined };
  const use = act('bayo', `${capability}.${kind}`, request._id);
  return { ...payload, force: true, command: await operatorActs.open(use, input) };
}
