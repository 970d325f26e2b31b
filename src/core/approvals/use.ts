import type { ClientSession, Db } from 'mongodb';
import type { Act, AuditedState } from '../audit/entry.js';
import {
  ApprovalRefused,
  approvals,
  forgotten,
  NO_TENANT,
  problemOfUse,
  type Approval,
} from './approval.js';

/**
 * Uses up the approval of an act, if it has one, in the transaction of the act. `state` is that of the target before the
 * act. Throws `ApprovalRefused` if the approval does not permit the act; then the transaction must not be committed.
 */
export async function useApproval(
  db: Db,
  act: Act,
  state: AuditedState,
  session: ClientSession,
): Promise<void> {
  if (act.approval === null) return;
  const collection = db.collection<Approval>(approvals.name);
  const named = { _id: act.approval, tenant_id: act.tenantId ?? NO_TENANT };
  const approval = await collection.findOne(named, { session });
  const problem = problemOfUse(approval, act, { state, now: new Date() });
  if (problem !== null || !approval) {
    throw new ApprovalRefused(problem ?? 'no approval', act.approval);
  }
  if (approval.status === 'used') return;
  // Of two acts at once one conflicts here, is tried again, and then finds the approval used.
  const unchanged = { ...named, version: approval.version };
  const set = { status: 'used', used_by: act.id } as const;
  const used = { $set: set, $unset: forgotten, $inc: { version: 1 } };
  await collection.updateOne(unchanged, used, { session });
}
