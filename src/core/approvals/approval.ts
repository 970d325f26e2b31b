import { collection } from '../commit/collection.js';
import {
  canonical,
  type Act,
  type Actor,
  type AuditedJson,
  type AuditedState,
} from '../audit/entry.js';

/** A request expires after this time. */
export const EXPIRES_MS = 24 * 60 * 60 * 1000;

/** The tenant of a request that concerns none. */
export const NO_TENANT = 'operators';

/**
 * `approved`: by a second person, not carried out yet. `used`: in the transaction of the act. `void`: the target changed, or
 * the act was not needed or not possible in the end.
 */
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'used' | 'void';

/** A request for the consent of a second person. */
export type Approval = {
  _id: string;
  tenant_id: string;
  version: number;
  /** The operation of the operator API that is carried out after the approval, such as `transfers.fail`. */
  kind: string;
  target: string;
  /** The target's state when the request was made; null if the act does not depend on it. Another state voids the request. */
  target_state: AuditedState;
  /** The reason why a second person is needed, such as the last answer of the provider. */
  evidence: string;
  /** The input of the operation. */
  input: { params: Record<string, string>; body: Record<string, AuditedJson> };
  maker: Actor;
  reason: string | null;
  status: ApprovalStatus;
  created_at: Date;
  expires_at: Date;
  decided_by: Actor | null;
  decided_at: Date | null;
  /** The act that has used it. */
  used_by: string | null;
  /** The result of the act, or the reason of a rejection. */
  result: string | null;
};

const dateOrNull = { bsonType: ['date', 'null'] };
const textOrNull = { bsonType: ['string', 'null'] };

/** The requests for approvals. */
export const approvals = collection<Approval>('approvals', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'kind', 'target', 'maker', 'status', 'created_at', 'expires_at'],
    properties: {
      tenant_id: { bsonType: 'string' },
      kind: { bsonType: 'string' },
      target: { bsonType: 'string' },
      target_state: { bsonType: ['object', 'null'] },
      evidence: { bsonType: 'string' },
      input: { bsonType: 'object' },
      maker: { bsonType: 'object' },
      reason: textOrNull,
      status: { enum: ['pending', 'approved', 'rejected', 'used', 'void'] },
      created_at: { bsonType: 'date' },
      expires_at: { bsonType: 'date' },
      decided_by: { bsonType: ['object', 'null'] },
      decided_at: dateOrNull,
      used_by: textOrNull,
      result: textOrNull,
    },
  },
  indexes: [
    { key: { tenant_id: 1, target: 1, status: 1 } },
    { key: { status: 1, _id: -1 } },
    {
      name: 'claimed',
      key: { expires_at: 1 },
      partialFilterExpression: { status: 'pending', 'maker.claim': true },
    },
  ],
  // The customer's account for a refund.
  sealed: [{ path: 'input.body.account_number' }],
});

/** The customer's account is not kept longer than the request needs it. */
export const forgotten = { 'input.body.account_number': '' } as const;

/** The status as people see it: an open request whose time is over has expired. */
export const statusAt = (approval: Approval, now: Date): ApprovalStatus | 'expired' =>
  (approval.status === 'pending' || approval.status === 'approved') && approval.expires_at <= now
    ? 'expired'
    : approval.status;

/** True until the request is used, rejected or void, or its time is over. */
export const isOpenAt = (approval: Approval, now: Date): boolean =>
  ['pending', 'approved'].includes(statusAt(approval, now));

/**
 * The reason why an act may not use this approval, or null. A repeat of the act that has used it may. `state` is that of the
 * act's target.
 */
export function problemOfUse(
  approval: Approval | null | undefined,
  { id, action, target }: Pick<Act, 'id' | 'action' | 'target'>,
  { state, now }: { state: AuditedState; now: Date },
): string | null {
  if (!approval) return 'there is no such approval';
  if (approval.kind !== action) return 'the approval is for another act';
  if (approval.target !== target) return 'the approval is for another target';
  if (approval.status === 'used' && approval.used_by === id) return null;
  const status = statusAt(approval, now);
  if (status !== 'approved') return `the approval is ${status}`;
  return isChanged(approval, state) ? 'the target has changed since the request' : null;
}

/** True if the target is in another state than when the request was made. */
export const isChanged = ({ target_state: before }: Approval, state: AuditedState): boolean =>
  before !== null && canonical(before) !== canonical(state);

const withoutAccount = (body: Approval['input']['body']) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'account_number'));

/** The approval after an act has used it. */
export const used = (approval: Approval, act: string): Approval => ({
  ...approval,
  input: { ...approval.input, body: withoutAccount(approval.input.body) },
  status: 'used',
  used_by: act,
  version: approval.version + 1,
});

/** True if an act without an approval must not be carried out, because nobody knows whether it needs one in this state. */
export const needsDecision = (
  { approval, unapprovedState }: Pick<Act, 'approval' | 'unapprovedState'>,
  state: AuditedState,
): boolean =>
  approval === null && unapprovedState !== undefined && unapprovedState !== canonical(state);

/** The target has changed since it was decided that the act needs no approval. Nothing was written. */
export class TargetChanged extends Error {}

/** The act's approval does not permit it. Nothing was written. */
export class ApprovalRefused extends Error {
  constructor(
    problem: string,
    readonly approval: string,
  ) {
    super(problem);
  }
}
