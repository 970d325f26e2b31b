import { z } from 'zod';
import { movedDepositId, type Deposit } from '../../capabilities/deposits/record.js';
import { presentDepositRow } from '../../capabilities/deposits/presenter.js';
import { exceedsTotal } from '../../capabilities/deposits/suspense.js';
import { isAssignable, type DepositFact } from '../../capabilities/deposits/transitions.js';
import type { Act } from '../../core/audit/entry.js';
import { instructionState } from '../../core/instructions/instruction.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import type { OperatorDeps } from './deps.js';
import { WORKERS } from './roles.js';
import { anyId, existing, printed, reason, refuseField } from './schema.js';
import { orWaiting, permit } from './second-person.js';
import { actOf } from './sign-in.js';

const tag = 'deposits';

/** Credits a suspended deposit to a virtual account. */
export const assignDeposit = operation({
  id: 'assignDeposit',
  tag,
  method: 'post',
  path: '/deposits/{id}/assign',
  summary: 'Credit a suspended deposit to an active virtual account of any tenant',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({ reason, account: anyId }),
  act: 'deposits.assign',
  answer: { status: 200, data: orWaiting(printed) },
});

/** Sends a suspended deposit back to its sender. */
export const returnDeposit = operation({
  id: 'returnDeposit',
  tag,
  method: 'post',
  path: '/deposits/{id}/return',
  summary: 'Send a suspended deposit back to its sender',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({ reason }),
  act: 'deposits.return',
  answer: { status: 200, data: orWaiting(printed) },
});

/** Ends the attention of a deposit whose money is decided. */
export const acknowledgeDeposit = operation({
  id: 'acknowledgeDeposit',
  tag,
  method: 'post',
  path: '/deposits/{id}/acknowledge',
  summary: 'Clear the attention of a deposit that is not in suspense; no money moves',
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({ reason }),
  act: 'deposits.acknowledge',
  answer: { status: 200, data: printed },
});

/** The routes for the decisions about money in suspense and for attention that no answer of the provider ends. Deposits are instructions; see instructions.ts. */
export const depositRoutes = (deps: OperatorDeps): Route[] => [
  route(assignDeposit, async (ctx, { params, body }) => {
    const deposit = await find(deps, params.id);
    const account = await deps.virtualAccounts.store.find(body.account);
    if (!account) throw refuseField('account', `There is no virtual account ${body.account}.`);
    if (account.state !== 'active') {
      throw refuseField('account', `The account is ${account.state}.`);
    }
    refuseUnassignable(deposit);
    if (exceedsTotal(account, deposit.amount_minor ?? 0n)) {
      throw refuseField('account', 'The account would receive more than is allowed.');
    }
    const isOwn = account.tenant_id === deposit.tenant_id;
    const to = {
      id: movedDepositId(deposit._id),
      tenant_id: account.tenant_id,
      virtual_account_id: account._id,
    };
    const fact = isOwn
      ? ({ kind: 'assigned', account: account._id } as const)
      : ({ kind: 'moved', to } as const);
    const why = { tenantId: deposit.tenant_id, reason: body.reason };
    const asked = {
      act: actOf(ctx, 'deposits.assign', deposit._id, why),
      state: instructionState(deposit),
      input: { params, body },
    };
    const act = await permit(deps, ctx, asked, { act: 'suspense_move' });
    if (!act) return;
    const changed = await decide(deps, deposit, act, { instruction: 'confirm', ...fact });
    if (!isOwn) deps.deposits.starter.startSoon(changed);
    sendData(ctx, 200, { ...presentDepositRow(changed), moved_to: changed.moved_to?.id ?? null });
  }),

  route(returnDeposit, async (ctx, { params, body }) => {
    const deposit = await find(deps, params.id);
    const why = { tenantId: deposit.tenant_id, reason: body.reason };
    const asked = {
      act: actOf(ctx, 'deposits.return', deposit._id, why),
      state: instructionState(deposit),
      input: { params, body },
    };
    const amountMinor = deposit.amount_minor ?? 0n;
    const act = await permit(deps, ctx, asked, { act: 'return', amountMinor });
    if (!act) return;
    const ordered = { instruction: 'return', kind: 'return_ordered' } as const;
    const changed = await decide(deps, deposit, act, ordered);
    deps.deposits.starter.startSoon(changed);
    sendData(ctx, 200, presentDepositRow(changed));
  }),

  route(acknowledgeDeposit, async (ctx, { params, body }) => {
    const deposit = await find(deps, params.id);
    const seen = deposit.attention?.reason ?? null;
    const why = { tenantId: deposit.tenant_id, reason: body.reason };
    const act = actOf(ctx, 'deposits.acknowledge', deposit._id, why);
    const seenByOperator = { kind: 'acknowledged', reason: seen ?? '' } as const;
    const changed = await apply(deps, deposit, act, { instruction: 'confirm', ...seenByOperator });
    if (!changed) {
      const message =
        'It has no attention, is not decided yet, or changed in this moment: show it again.';
      throw new ApiError('invalid_state', { message });
    }
    deps.deposits.starter.notifyChangedSoon(changed);
    sendData(ctx, 200, { ...presentDepositRow(changed), acknowledged: seen });
  }),
];

const find = ({ deposits }: OperatorDeps, id: string): Promise<Deposit> =>
  existing(deposits.store.find(id), 'deposit');

/** Refuses an assignment before anybody must approve it. The commit decides it again. */
function refuseUnassignable(deposit: Deposit): void {
  if (deposit.state !== 'suspended' || isAssignable(deposit)) return;
  const { _id: id, fee_minor: fee, amount_minor: amount } = deposit;
  const isTaken = amount !== null && fee >= amount;
  const message = isTaken
    ? `${id} cannot be assigned: the provider's fee is as much as the deposit.`
    : `${id} cannot be assigned: its provider may have returned it. Return it again, or assign it once the provider has refused the return.`;
  throw new ApiError('invalid_state', { message });
}

type Decision = DepositFact extends infer Fact
  ? Fact extends { kind: 'assigned' | 'moved' | 'return_ordered' | 'acknowledged' }
    ? Omit<Fact, 'via' | 'actor' | 'providerRequestId' | 'note' | 'act'>
    : never
  : never;

/** Commits an operator's decision about money in suspense. Refuses a deposit that is not there. */
async function decide(
  deps: OperatorDeps,
  deposit: Deposit,
  act: Act,
  decision: Decision,
): Promise<Deposit> {
  const decided = await apply(deps, deposit, act, decision);
  if (decided) return decided;
  const message = `${deposit._id} is ${deposit.state}: only a deposit in suspense is assigned or returned.`;
  throw new ApiError('invalid_state', { message });
}

/** Commits an operator's decision with its entry in the audit log; null if the deposit does not permit it. */
async function apply(
  { deposits }: OperatorDeps,
  deposit: Deposit,
  act: Act,
  decision: Decision,
): Promise<Deposit | null> {
  const source = { via: 'operator', actor: null, providerRequestId: null, note: null } as const;
  const result = await deposits.store.applyFact(deposit, { ...source, act, ...decision });
  return result.kind === 'fact' && result.verdict === 'applied' ? result.deposit : null;
}
