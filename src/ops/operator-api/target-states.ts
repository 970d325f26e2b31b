import { disputeState } from '../../capabilities/disputes/record.js';
import { capabilities } from '../../composition/capabilities.js';
import type { Deps } from '../../composition/deps.js';
import type { Approval } from '../../core/approvals/approval.js';
import type { AuditedState } from '../../core/audit/entry.js';
import { instructionState } from '../../core/instructions/instruction.js';
import { breakState } from './breaks.js';
import { presentTenant } from './tenants.js';

/** The present state of a request's target, as the act sees it before it changes the target; null if it needs none. */
export async function stateOf(
  deps: Deps,
  { kind, target }: Pick<Approval, 'kind' | 'target'>,
): Promise<AuditedState> {
  if (kind === 'tenants.update') {
    const tenant = await deps.tenants.get(target);
    return tenant && presentTenant(tenant);
  }
  const [name] = kind.split('.');
  if (name === 'breaks') {
    const found = await deps.breaks.find(target);
    return found && breakState(found);
  }
  if (name === 'disputes') return disputeState(await deps.disputes.store.find(target));
  const instruction = capabilities.find((each) => each.name === name)?.instruction;
  const record = await instruction?.records(deps).store.find(target);
  return instructionState(record ?? undefined);
}
