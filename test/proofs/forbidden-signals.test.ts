import type { Transfer } from '../../src/capabilities/transfers/record.js';
import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import type { Deps } from '../../src/composition/deps.js';
import type { Approval } from '../../src/core/approvals/approval.js';
import type { AuditEntry } from '../../src/core/audit/entry.js';
import { approvedPayload } from '../support/approvals.js';
import { eventually } from '../support/eventually.js';
import {
  createTestOperator,
  operatorDeps,
  operatorSignIn,
  stopOperatorApis,
} from '../support/operators.js';
import { shareService, SHARED_OPTIONS, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

/** Transfers that wait for an operator. Each of them gets every forbidden signal, one after the other. */
const TRANSFERS = 4;
const REASON = 'the customer cannot wait';

let service: Service;
let deps: Deps;
let tenant: TestTenant;
beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.earlyAttention);
  await operatorSignIn(service.env);
  deps = await operatorDeps(service.env);
  tenant = await service.tenant();
});
afterAll(async () => {
  await stopOperatorApis();
  await service?.close();
});

type Kind = 'fail' | 'complete';
type Payload = {
  actor: string;
  reason: string;
  session_id: string | null;
  force: boolean;
  amount_minor?: number;
  command?: string;
};
/** A signal, and the one entry that it leaves in the audit log. */
type Signal = { kind: Kind; payload: Payload; logged: object };

const payload = (changes: Partial<Payload> = {}): Payload => ({
  actor: 'chief-financial-officer',
  reason: REASON,
  session_id: null,
  force: true,
  ...changes,
});
const entries = () => service.deps.database.db.collection<AuditEntry>('audit_log');
const approvals = () => service.deps.database.db.collection<Approval>('approvals');

/** The actor is a claim, whatever the message says, and the command waits for two people. */
const requestedByClaim = {
  action: 'approvals.request',
  actor: { operator: null, name: 'chief-financial-officer', roles: [], claim: true },
  approval: null,
  after: { approval: expect.stringMatching(/^apr_/) },
};
/** The command is that of an operator who has signed in, and its approval does not permit it. */
const refused = (kind: Kind, problem: string) => ({
  action: `transfers.${kind}`,
  actor: { operator: 'opr_bayo' },
  approval: expect.stringMatching(/^apr_/),
  after: { result: expect.stringContaining(`Not done (${kind}): ${problem}`) },
});

/** A command that another person has approved, stored as the operator API stores it and not sent yet. */
const approved = (of: Transfer, changes: Partial<Payload> = {}, kind: Kind = 'fail') =>
  approvedPayload(deps, 'transfers', of, payload(changes), kind);

/** A command that was sent to its transfer and answered: the bank says that the payment is pending, so it did nothing. */
async function answered(of: Transfer): Promise<string> {
  const act = {
    id: '',
    actor: { operator: 'opr_bayo', name: 'bayo', roles: ['operator'] },
    action: 'transfers.fail',
    target: of._id,
    tenantId: of.tenant_id,
    reason: REASON,
    requestId: null,
    approval: null,
  };
  const command = await deps.operatorActs.open(act, { force: false, sessionId: null });
  const sent = payload({ force: false, command });
  const answer = await deps.transfers.starter.command(of, 'fail', sent);
  expect(answer).toMatchObject({ done: false });
  return command;
}

/** An approved command whose approval has changed since. */
const afterSetting =
  (problem: string, fields: () => Partial<Approval>): Way =>
  async (own) => {
    const sent = await approved(own);
    await approvals().updateMany(
      { target: own._id, status: 'approved', 'decided_by.operator': 'opr_bayo' },
      { $set: fields() },
    );
    return { kind: 'fail', payload: sent, logged: refused('fail', problem) };
  };

type Way = (own: Transfer, another: Transfer) => Promise<Signal> | Signal;
const WAYS: Record<string, Way> = {
  'a forged name': () => ({ kind: 'fail', payload: payload(), logged: requestedByClaim }),
  'a forged name on a complete of another amount': ({ amount_minor: ordered }) => ({
    kind: 'complete',
    payload: payload({ amount_minor: Number(ordered) - 1 }),
    logged: requestedByClaim,
  }),
  'a forged name without force, on which the bank decides': () => ({
    kind: 'fail',
    payload: payload({ force: false }),
    logged: {
      ...requestedByClaim,
      action: 'transfers.fail',
      after: { result: expect.stringContaining('Not failed') },
    },
  }),
  'an invented command': () => ({
    kind: 'fail',
    payload: payload({ command: 'ocm_00000000000000000000000000' }),
    logged: requestedByClaim,
  }),
  'a replayed command': async (own) => ({
    kind: 'fail',
    payload: payload({ command: await answered(own) }),
    logged: requestedByClaim,
  }),
  'the approved command of another transfer': async (_own, another) => ({
    kind: 'fail',
    payload: await approved(another),
    logged: requestedByClaim,
  }),
  'an approved command of another kind': async (own) => ({
    kind: 'complete',
    payload: await approved(own),
    logged: requestedByClaim,
  }),
  'an approved command with another amount': async (own) => {
    const amount = Number(own.amount_minor);
    const sent = await approved(own, { amount_minor: amount - 1 }, 'complete');
    const changed = { ...sent, amount_minor: amount + 1_000_000 };
    return { kind: 'complete', payload: changed, logged: requestedByClaim };
  },
  'an approved command with another session id': async (own) => {
    const sent = await approved(own, { session_id: 'seen-on-paper' }, 'complete');
    const changed = { ...sent, session_id: 'invented' };
    return { kind: 'complete', payload: changed, logged: requestedByClaim };
  },
  'an expired approval': afterSetting('the approval is expired', () => ({
    expires_at: new Date(Date.now() - 1),
  })),
  'a voided approval': afterSetting('the approval is void', () => ({ status: 'void' })),
  'a rejected approval': afterSetting('the approval is rejected', () => ({ status: 'rejected' })),
  'an approval that another act has used': afterSetting('the approval is used', () => ({
    status: 'used',
    used_by: 'another act',
  })),
  'an approval of another target state': afterSetting('the target has changed', () => ({
    target_state: { status: 'pending' },
  })),
};

/** A transfer that the bank has accepted and leaves undecided, with attention. */
async function stuck(): Promise<Transfer> {
  const id = await tenant.send('006');
  await tenant.waitFor(id, ({ attention }) => attention !== null);
  return tenant.stored(id);
}

/** Sends the signal and returns the entries about its transfer that it has left, once it is handled. */
async function leavesBehind(own: Transfer, { kind, payload: sent }: Signal, mark: number) {
  const handle = service.deps.temporal.client.workflow.getHandle(transferWorkflowId(own._id));
  const before = (await tenant.stored(own._id)).timeline.length;
  await handle.signal(kind, sent);
  await eventually(`${kind} of ${own._id} is handled`, async () => {
    const fresh = (await tenant.stored(own._id)).timeline.slice(before);
    return fresh.some(({ type }) => type === 'operator') ? true : undefined;
  });
  return entries()
    .find({ target: own._id, _id: { $gt: mark } })
    .sort({ _id: 1 })
    .toArray();
}

test(`${TRANSFERS} transfers that wait for an operator stay as they are under every forged or replayed signal, and the audit log has each`, async () => {
  const [another, ...transfers] = await Promise.all(Array.from({ length: 1 + TRANSFERS }, stuck));
  const held = await tenant.balance();
  for (const own of transfers) {
    for (const [name, way] of Object.entries(WAYS)) {
      const signal = await way(own, another as Transfer);
      const [last] = await entries().find().sort({ _id: -1 }).limit(1).toArray();
      const left = await leavesBehind(own, signal, Number(last?._id));
      expect([name, left]).toMatchObject([name, [signal.logged]]);
      expect([name, await tenant.get(own._id)]).toMatchObject([
        name,
        { status: 'processing', settled_amount_minor: null },
      ]);
    }
  }
  expect(await tenant.balance()).toEqual(held);
  const ids = [another as Transfer, ...transfers].map(({ _id }) => _id);
  const used = await approvals()
    .find({ target: { $in: ids }, status: 'used' })
    .toArray();
  expect(used.map((each) => each.used_by)).toEqual(used.map(() => 'another act'));
  expect((await deps.audit.verify()).problems).toEqual([]);

  for (const id of ids) await service.bank.decideTransfer(id, 'paid');
  for (const id of ids) await tenant.waitFor(id, 'completed');
});

test('a person without the role of an operator sends no command, and the refusal is in the audit log', async () => {
  const own = await stuck();
  const url = String((await operatorSignIn(service.env))['BURSAR_OPERATOR_URL']);
  for (const role of ['viewer', 'approver'] as const) {
    const { id, key } = await createTestOperator(deps, [role]);
    for (const kind of ['fail', 'complete'] as const) {
      const response = await fetch(`${url}/operator/v1/transfers/${own._id}/${kind}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ reason: REASON, force: true }),
      });
      expect([role, kind, response.status]).toEqual([role, kind, 403]);
    }
    const left = await entries().find({ 'actor.operator': id }).sort({ _id: 1 }).toArray();
    expect(left).toMatchObject(
      ['transfers.fail', 'transfers.complete'].map((action) => ({
        action,
        target: 'refused',
        after: { refused: expect.any(String) },
      })),
    );
  }
  expect(await tenant.get(own._id)).toMatchObject({ status: 'processing' });
  await service.bank.decideTransfer(own._id, 'paid');
  await tenant.waitFor(own._id, 'completed');
});
