import type { ClientSession, Collection, Db } from 'mongodb';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { newId } from '../../shared/ids.js';
import { canonical, type Act, type Actor, type AuditedState } from '../audit/entry.js';
import type { Audit } from '../audit/store.js';
import { approvals, EXPIRES_MS, forgotten, NO_TENANT, type Approval } from './approval.js';

/** A request as an act makes it. */
export type NewApproval = Pick<Approval, 'target_state' | 'evidence' | 'input'>;

/** The requests for approvals. */
export type Approvals = ReturnType<typeof createApprovals>;

/** Creates the store of requests for approvals. */
export function createApprovals({ db, audit }: { db: Db; audit: Audit }) {
  const collection = db.collection<Approval>(approvals.name);
  return {
    ...approvalQueries(collection),

    /**
     * Stores a request, and its entry in the audit log. The same person's open request for the same act, with the same
     * input and the same state of the target, is returned in its place.
     */
    async request(act: Act, request: NewApproval): Promise<Approval> {
      const approval = newApproval(act, request, new Date());
      const { tenant_id: tenantId, created_at: now } = approval;
      const made = await audit.act({ ...act, action: 'approvals.request' }, async (session) => {
        const own = await collection
          .find(
            {
              tenant_id: tenantId,
              target: act.target,
              status: 'pending',
              kind: act.action,
              'maker.operator': act.actor.operator,
              'maker.name': act.actor.name,
              expires_at: { $gt: now },
            },
            { session },
          )
          .toArray();
        const open = own.find((each) => asksFor(each, request));
        if (open) return { result: open, before: null, after: { approval: open._id } };
        await collection.updateMany(
          {
            status: { $in: ['pending', 'approved'] },
            expires_at: { $lte: now },
            'input.body.account_number': { $exists: true },
          },
          { $unset: forgotten },
          { session, ...acrossTenants('loop') },
        );
        await collection.insertOne(approval, { session });
        return {
          result: approval,
          before: null,
          after: { approval: approval._id, kind: act.action },
        };
      });
      return made ?? approval;
    },

    /**
     * Changes a request that is unchanged since it was read, in the transaction of an act. Null: another operator was faster.
     */
    change: (
      act: Act,
      before: Approval,
      set: Partial<Pick<Approval, 'status' | 'maker' | 'decided_by' | 'decided_at' | 'result'>>,
    ): Promise<Approval | null> =>
      audit.act(act, async (session) => {
        const { _id, tenant_id, version } = before;
        const after = await collection.findOneAndUpdate(
          { _id, tenant_id, version },
          {
            $set: set,
            ...(isDecided(set.status) && { $unset: forgotten }),
            $inc: { version: 1 },
          },
          { session, returnDocument: 'after' },
        );
        return after && { result: after, before: shown(before), after: shown(after) };
      }),
  };
}

/** True for a status in which a request is not used any more. */
const isDecided = (status: Approval['status'] | undefined): boolean =>
  status === 'rejected' || status === 'void' || status === 'used';

/** The reads of requests. */
const approvalQueries = (collection: Collection<Approval>) => ({
  get: (id: string, session?: ClientSession): Promise<Approval | null> =>
    collection.findOne({ _id: id }, { ...acrossTenants('look_up'), ...(session && { session }) }),

  /** The latest, newest first; with `open`, only those that wait for a decision, or for the person who carries them out. */
  latest: (open: boolean, limit: number): Promise<Approval[]> =>
    collection
      .find(
        open ? { status: { $in: ['pending', 'approved'] }, expires_at: { $gt: new Date() } } : {},
        acrossTenants('report'),
      )
      .sort({ _id: -1 })
      .limit(limit)
      .toArray(),

  /** The approved requests of this person for this act with this input, which no act has used yet. */
  async readyFor(act: Act, input: Approval['input']): Promise<Approval[]> {
    const own = await collection
      .find({
        tenant_id: act.tenantId ?? NO_TENANT,
        target: act.target,
        status: 'approved',
        kind: act.action,
        'maker.operator': act.actor.operator,
        expires_at: { $gt: new Date() },
      })
      .toArray();
    return own.filter((each) => canonical(each.input) === canonical(input));
  },
});

/** True if the request is for this input, made for this state of the target. */
const asksFor = (
  { input, target_state: state }: Approval,
  { input: other, target_state: otherState }: NewApproval,
): boolean => canonical(input) === canonical(other) && canonical(state) === canonical(otherState);

const newApproval = (act: Act, request: NewApproval, now: Date): Approval => ({
  _id: newId('approval'),
  tenant_id: act.tenantId ?? NO_TENANT,
  version: 1,
  kind: act.action,
  target: act.target,
  ...request,
  maker: act.actor,
  reason: act.reason,
  status: 'pending',
  created_at: now,
  expires_at: new Date(now.getTime() + EXPIRES_MS),
  decided_by: null,
  decided_at: null,
  used_by: null,
  result: null,
});

const shown = (approval: Approval): AuditedState => ({
  status: approval.status,
  kind: approval.kind,
  target: approval.target,
  maker: nameOf(approval.maker),
  result: approval.result,
});

/** The person of an act, in a word. */
export const nameOf = (actor: Actor): string =>
  actor.claim ? `says to be ${actor.name}` : (actor.operator ?? actor.name);
