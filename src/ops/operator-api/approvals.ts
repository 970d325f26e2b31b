import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { maskAccount } from '../../capabilities/deposits/record.js';
import { isChanged, isOpenAt, statusAt, type Approval } from '../../core/approvals/approval.js';
import { nameOf } from '../../core/approvals/store.js';
import type { Context } from '../../platform/http/context.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import type { Operator } from '../../platform/operators/operator.js';
import { ApiError } from '../../shared/errors.js';
import type { OperatorDeps } from './deps.js';
import { APPROVERS, READERS } from './roles.js';
import { isCollected, isEntitled } from './second-person.js';
import { anyId, existing, flag, LISTED, printed, printedList, reasonBody } from './schema.js';
import { actOf, operatorOf } from './sign-in.js';
import { stateOf } from './target-states.js';
import { ProviderNotConfigured } from '../../core/providers/not-configured.js';

const tag = 'Approvals';

/** Lists requests for approvals. */
export const listApprovals = operation({
  id: 'listApprovals',
  tag,
  method: 'get',
  path: '/approvals',
  summary: `List the latest ${LISTED} requests; with open, those that wait for a decision or for their maker`,
  roles: READERS,
  query: z.strictObject({ open: flag }),
  answer: { status: 200, data: printedList },
});

/** Shows a request for an approval. */
export const getApproval = operation({
  id: 'getApproval',
  tag,
  method: 'get',
  path: '/approvals/{id}',
  summary: 'Show a request with its evidence',
  roles: READERS,
  params: { id: anyId },
  answer: { status: 200, data: printed },
});

/** Approves a request, and carries its act out. */
export const approveApproval = operation({
  id: 'approveApproval',
  tag,
  method: 'post',
  path: '/approvals/{id}/approve',
  summary:
    'Approve the request of another person; the provider is asked again, and its answer shown',
  description:
    'The act is carried out at once. A request that came through Temporal without a sign-in gets the first person who ' +
    'approves it as its maker, and needs another one. To repeat the call after a failure is safe.',
  roles: APPROVERS,
  params: { id: anyId },
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** Rejects a request. */
export const rejectApproval = operation({
  id: 'rejectApproval',
  tag,
  method: 'post',
  path: '/approvals/{id}/reject',
  summary:
    'Reject a request, also one of your own, and also an approved one whose act is not carried out',
  roles: [...APPROVERS, 'operator', 'admin'],
  params: { id: anyId },
  body: reasonBody,
  answer: { status: 200, data: printed },
});

/** The routes for approvals. `acts` are the routes that an approval may carry out, by the id of their operation. */
export const approvalRoutes = (deps: OperatorDeps, acts: readonly Route[]): Route[] => {
  const { approvals } = deps;
  const find = (id: string): Promise<Approval> => existing(approvals.get(id), 'approval');
  return [
    route(listApprovals, async (ctx, { query }) => {
      sendData(ctx, 200, (await approvals.latest(query.open, LISTED)).map(presentRow));
    }),

    route(getApproval, async (ctx, { params }) => {
      sendData(ctx, 200, presentApproval(await find(params.id)));
    }),

    route(rejectApproval, async (ctx, { params: { id }, body }) => {
      const before = await find(id);
      // An approved one too: its act is still to come, or ends with it.
      if (!isOpenAt(before, new Date())) throw await refuse(deps, ctx, before, 'state');
      const { reason = null } = body;
      const act = actOf(ctx, 'approvals.reject', id, { reason });
      const set = { status: 'rejected', ...decidedBy(ctx), result: reason } as const;
      const after = await approvals.change(act, before, set);
      if (!after) throw await refuse(deps, ctx, before, 'state');
      sendData(ctx, 200, presentApproval(after));
    }),

    route(approveApproval, async (ctx, { params: { id }, body }) => {
      const why = { reason: body.reason ?? null };
      const before = await find(id);
      const problem = await problemOf(deps, acts, ctx, before);
      if (problem !== null) throw await refuse(deps, ctx, before, problem);
      if (before.maker.operator === null) {
        const act = actOf(ctx, 'approvals.adopt', id, why);
        const { id: operator, name, roles } = operatorOf(ctx);
        const after = await approvals.change(act, before, { maker: { operator, name, roles } });
        if (!after) throw await refuse(deps, ctx, before, 'state');
        const message = 'You stand for this request now. Another person must approve it.';
        return sendData(ctx, 200, { ...presentApproval(after), done: false, message });
      }
      const approved =
        before.status === 'approved'
          ? before
          : await approvals.change(actOf(ctx, 'approvals.approve', id, why), before, {
              status: 'approved',
              ...decidedBy(ctx),
            });
      if (!approved) throw await refuse(deps, ctx, before, 'state');
      if (isCollected(approved.kind)) {
        const message = 'Approved. The person who asked repeats the command, which carries it out.';
        return sendData(ctx, 200, { ...presentApproval(approved), done: false, message });
      }
      const outcome = await carryOut(acts, ctx, approved);
      const after = await close(deps, ctx, id, outcome);
      sendData(ctx, 200, { ...presentApproval(after), ...outcome });
    }),
  ];
};

const decidedBy = (ctx: Context) => {
  const { id: operator, name, roles } = operatorOf(ctx);
  return { decided_by: { operator, name, roles }, decided_at: new Date() };
};

type Problem = 'own' | 'state' | 'maker' | 'changed';
const PROBLEMS: Record<Problem, string> = {
  own:
    'Another person than the one who made the request must approve it. An operator whose account or key was made by the ' +
    'other one, or by somebody the other one made, does not count as another person.',
  state:
    'The request is decided already, has expired, or was changed in this moment: show it again.',
  maker:
    'The account of the person who made the request is disabled, or has lost the role for this act. The request is void now: ' +
    'somebody who may make it makes a new one.',
  changed: 'The target has changed since the request, which is void now: make a new one.',
};
/** Problems that end a request, with its result. */
const ENDS = {
  maker: 'the account of the maker is disabled, or has lost the role',
  changed: 'the target has changed since the request',
} as const;

/** The reason why this operator may not approve this request now, or null. A maker without the right and a changed target void it. */
async function problemOf(
  deps: OperatorDeps,
  acts: readonly Route[],
  ctx: Context,
  approval: Approval,
): Promise<Problem | null> {
  const { id } = operatorOf(ctx);
  if (await isOwn(deps, operatorOf(ctx), approval)) return 'own';
  const status = statusAt(approval, new Date());
  // The same person may repeat an approval whose act was not carried out.
  const isRepeat = status === 'approved' && approval.decided_by?.operator === id;
  if (status !== 'pending' && !isRepeat) return 'state';
  const ended = (await mayMake(deps, acts, approval))
    ? isChanged(approval, await stateOf(deps, approval)) && 'changed'
    : 'maker';
  if (!ended) return null;
  const act = actOf(ctx, 'approvals.void', approval._id);
  await deps.approvals.change(act, approval, { status: 'void', result: ENDS[ended] });
  return ended;
}

/**
 * True if the maker of the request may still make it. Nobody stands yet for a request that came through Temporal; who stands for
 * one since, without a role for the act, did so as an approver.
 */
async function mayMake(
  deps: OperatorDeps,
  acts: readonly Route[],
  { kind, maker }: Approval,
): Promise<boolean> {
  if (maker.operator === null) return true;
  const { roles = READERS } = actNamed(acts, kind).operation;
  const hadRole = roles.some((role) => maker.roles.includes(role));
  return isEntitled(deps, maker, hadRole ? roles : APPROVERS);
}

/** The route of an act. */
function actNamed(acts: readonly Route[], kind: string): Route {
  const act = acts.find(({ operation }) => (operation.act ?? operation.id) === kind);
  if (!act) throw new Error(`no act has the name ${kind}`);
  return act;
}

/**
 * True if the maker of the request may be the person who approves it: the same account, or one of the two has made the other's
 * account or key, directly or through others, and so could sign in as both.
 */
async function isOwn(
  { operators, oidc }: OperatorDeps,
  { id, madeBy }: Operator,
  { maker: { operator: maker } }: Approval,
): Promise<boolean> {
  if (maker === null) return false;
  if (maker === id || madeBy.includes(maker)) return true;
  // An issuer vouches for the maker, whoever made the account.
  return oidc === null && (await operators.makersOf(maker)).includes(id);
}

/** A refusal, which is in the audit log too. */
async function refuse(
  { audit }: OperatorDeps,
  ctx: Context,
  { _id, status }: Approval,
  problem: Problem,
): Promise<ApiError> {
  const message = PROBLEMS[problem];
  const act = actOf(ctx, 'approvals.refused', _id);
  await audit.record(act, { before: { status }, after: { refused: message } });
  return new ApiError(problem === 'own' ? 'forbidden' : 'invalid_state', { message });
}

type Outcome = { done: boolean; message: string };

/**
 * Carries the act of an approved request out, by the route that it was first sent to. A refusal is an outcome. Other errors
 * are thrown, and leave the request approved, so that the same person may repeat the approval.
 */
async function carryOut(
  acts: readonly Route[],
  ctx: Context,
  { _id, kind, input }: Approval,
): Promise<Outcome> {
  const act = actNamed(acts, kind);
  ctx.state.approval = _id;
  try {
    await act.handle(ctx, { params: input.params, query: {}, body: input.body });
  } catch (error) {
    // A provider that is not configured may be so by mistake: the request stays approved.
    const isRefused = error instanceof ApiError && !(error instanceof ProviderNotConfigured);
    if (!isRefused || error.status >= 500) throw error;
    return { done: false, message: `Not done: ${error.message}` };
  } finally {
    // The rest is about the request itself, and uses no approval.
    delete ctx.state.approval;
  }
  const { data } = JSON.parse(String(ctx.body)) as { data: Partial<Outcome> & { id?: string } };
  const { done = true, message = data.id === undefined ? 'Done.' : `Done: ${data.id}.` } = data;
  return { done, message };
}

/** Keeps the result. A request whose act was not carried out, or did not need it, is void. */
async function close(
  { approvals }: OperatorDeps,
  ctx: Context,
  id: string,
  { message }: Outcome,
): Promise<Approval> {
  const present = await existing(approvals.get(id), 'approval');
  const status = present.status === 'used' ? 'used' : 'void';
  const act = { ...actOf(ctx, 'approvals.close', id), id: randomUUID() };
  return (await approvals.change(act, present, { status, result: message })) ?? present;
}

const presentRow = (approval: Approval) => ({
  id: approval._id,
  kind: approval.kind,
  target: approval.target,
  status: statusAt(approval, new Date()),
  maker: nameOf(approval.maker),
  reason: approval.reason,
  expires_at: approval.expires_at.toISOString(),
  created_at: approval.created_at.toISOString(),
});

/** The input of an act. Of a customer's account, the last digits are enough to decide. */
function shownInput({ input }: Approval): Approval['input'] {
  const { account_number: account } = input.body;
  if (typeof account !== 'string') return input;
  return { ...input, body: { ...input.body, account_number: maskAccount(account) } };
}

const presentApproval = (approval: Approval) => ({
  ...presentRow(approval),
  tenant: approval.tenant_id,
  target_state: approval.target_state,
  evidence: approval.evidence,
  input: shownInput(approval),
  maker_name: approval.maker.name,
  decided_by: approval.decided_by && nameOf(approval.decided_by),
  decided_at: approval.decided_at?.toISOString() ?? null,
  result: approval.result,
});
