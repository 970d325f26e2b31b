import { z } from 'zod';
import { ApprovalRefused, type Approval } from '../../core/approvals/approval.js';
import { reasonForApproval, type PolicyCase } from '../../core/approvals/policy.js';
import type { NewApproval } from '../../core/approvals/store.js';
import type { Act, Actor, AuditedState } from '../../core/audit/entry.js';
import type { Context } from '../../platform/http/context.js';
import { sendData } from '../../platform/http/respond.js';
import type { Route } from '../../platform/http/routes.js';
import type { OperatorRole } from '../../platform/operators/operator.js';
import { ApiError } from '../../shared/errors.js';
import type { OperatorDeps } from './deps.js';
import { APPROVERS } from './roles.js';
import { actOf } from './sign-in.js';

/** The answer to an act that waits for a second person. Nothing was done. */
export const waiting = z.object({
  done: z.literal(false),
  message: z.string(),
  approval: z.string().meta({ description: 'The request that a second person must approve.' }),
});

/** The answer of an operation that may wait for a second person. */
export const orWaiting = <T extends z.ZodType>(data: T) => z.union([data, waiting]);

/** Acts whose answer has a secret. The maker repeats the command after the approval, which carries it out. */
const COLLECTED = new Set([
  'keys.create',
  'keys.rotate',
  'webhooks.endpoints.add',
  'webhooks.endpoints.rotate',
]);

/** True for an act that its maker carries out after the approval, because only the maker may see the answer. */
export const isCollected = (kind: string): boolean => COLLECTED.has(kind);

type Parts = Pick<OperatorDeps, 'approvals' | 'config' | 'operators'>;

/** True if this person of a request has an account that is enabled, and that has one of these roles now. */
export async function isEntitled(
  { operators }: Pick<Parts, 'operators'>,
  person: Actor | null,
  roles: readonly OperatorRole[],
): Promise<boolean> {
  const account = person?.operator ? await operators.get(person.operator) : null;
  if (account === null || account.disabledAt !== null) return false;
  return roles.some((role) => account.roles.includes(role));
}

/**
 * An act with what its request for an approval needs. `state` is that of the target; left out if the act needs none. `answer`: that
 * of the provider in words, if it was asked.
 */
type Asked = {
  act: Act;
  state?: AuditedState;
  input: { params?: object; body: object };
  answer?: string;
};

/**
 * The act as it may be carried out now, with the approval that it uses; null if it waits for a second person: then the
 * request has been stored and the answer sent.
 */
export async function permit(
  parts: Parts,
  ctx: Context,
  asked: Asked,
  policyCase: PolicyCase,
): Promise<Act | null> {
  const { act, answer } = asked;
  const reason = reasonForApproval(parts.config.approvals, policyCase);
  if (reason === null || act.approval !== null) return act;
  const request = requestOf(asked, answer === undefined ? reason : `${reason}: ${answer}`);
  const ready = isCollected(act.action) ? await readyFor(parts, ctx, act, request.input) : null;
  if (ready) return { ...act, approval: ready._id };
  await askFor(parts, ctx, act, request);
  return null;
}

/** The approved request that the act may use, or null. Those whose approver may not approve any more are void. */
async function readyFor(
  { approvals, operators }: Parts,
  ctx: Context,
  act: Act,
  input: NewApproval['input'],
): Promise<Approval | null> {
  for (const ready of await approvals.readyFor(act, input)) {
    if (await isEntitled({ operators }, ready.decided_by, APPROVERS)) return ready;
    const result = 'the account of the approver is disabled, or has lost the role';
    const voids = actOf(ctx, 'approvals.void', ready._id);
    await approvals.change(voids, ready, { status: 'void', result });
  }
  return null;
}

/** Thrown in the transaction of an act of which only the transaction knows that it needs a second person. */
export class NeedsSecondPerson extends Error {
  constructor(
    reason: string,
    readonly state: AuditedState,
  ) {
    super(reason);
  }
}

/** Throws `NeedsSecondPerson` if the act needs an approval and has none. `state` is that of the target before the act. */
export function assertPermitted(
  { config }: Pick<Parts, 'config'>,
  { approval }: Act,
  policyCase: PolicyCase,
  state: AuditedState,
): void {
  const reason = reasonForApproval(config.approvals, policyCase);
  if (reason !== null && approval === null) throw new NeedsSecondPerson(reason, state);
}

/** Runs the transaction of an act. If it needs a second person, the request is stored, and 'waits' is returned. */
export async function orAsk<T>(
  { approvals }: Pick<Parts, 'approvals'>,
  ctx: Context,
  asked: Asked,
  run: () => Promise<T>,
): Promise<T | 'waits'> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof NeedsSecondPerson)) throw error;
    await askFor({ approvals }, ctx, asked.act, requestOf(asked, error.message, error.state));
    return 'waits';
  }
}

/** The route with a refusal, which is in the audit log, for an act that its approval does not permit. */
export const refusing = ({ audit }: Pick<OperatorDeps, 'audit'>, given: Route): Route => ({
  ...given,
  async handle(ctx, input) {
    try {
      await given.handle(ctx, input);
    } catch (error) {
      if (!(error instanceof ApprovalRefused)) throw error;
      const message = `Not done: ${error.message}.`;
      const act = actOf(ctx, 'approvals.refused', error.approval);
      await audit.record(act, { after: { refused: message } });
      throw new ApiError('invalid_state', { message });
    }
  },
});

function requestOf(
  { state, input: { params = {}, body } }: Asked,
  evidence: string,
  found: AuditedState = null,
): NewApproval {
  // As JSON has them: what is left out is not stored as null.
  const input = JSON.parse(JSON.stringify({ params, body })) as NewApproval['input'];
  return { target_state: state ?? found, evidence, input };
}

async function askFor(
  { approvals }: Pick<Parts, 'approvals'>,
  ctx: Context,
  act: Act,
  request: NewApproval,
): Promise<void> {
  const { _id: approval } = await approvals.request(act, request);
  const then = isCollected(act.action) ? '; then repeat this command, which shows its secret' : '';
  const message =
    `Not done yet: ${request.evidence}. A second person decides: ` +
    `bursar approvals approve ${approval} (or reject)${then}.`;
  sendData(ctx, 200, { done: false, message, approval });
}
