import { useApproval } from '../../../src/core/approvals/use.js';
import { randomUUID } from 'node:crypto';
import { ApprovalRefused, used, type Approval } from '../../../src/core/approvals/approval.js';
import { createApprovals } from '../../../src/core/approvals/store.js';
import type { Act, AuditEntry, AuditedState } from '../../../src/core/audit/entry.js';
import { createAudit, type Audit } from '../../../src/core/audit/store.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let audit: Audit;
beforeAll(async () => {
  database = await openTestDatabase();
  audit = createAudit(database, useApproval);
});
afterAll(() => database.close());

const TENANT = 'ten_1';
const STATE = { daily_limit_minor: 500 };
const ADA = { operator: 'opr_ada', name: 'Ada', roles: ['operator'] };

const actWith = (given: Partial<Act>): Act => ({
  id: randomUUID(),
  actor: ADA,
  action: 'tenants.update',
  target: TENANT,
  tenantId: TENANT,
  reason: null,
  requestId: null,
  approval: null,
  ...given,
});

/** The id of an approval for the act on a target that was in this state. */
async function approved(set: Partial<Approval> = {}): Promise<string> {
  const approvals = createApprovals({ db: database.db, audit });
  const input = { params: { id: TENANT }, body: { daily_limit_minor: 900, reason: randomUUID() } };
  const request = { target_state: STATE, evidence: 'it raises a limit', input };
  const { _id } = await approvals.request(actWith({}), request);
  const fields = { status: 'approved', ...set } as const;
  await stored().updateOne({ _id }, { $set: fields });
  return _id;
}

const stored = () => database.db.collection<Approval>('approvals');
const entriesOf = (approval: string) =>
  database.db.collection<AuditEntry>('audit_log').find({ approval }).toArray();

/** The two ways in which an act outside of the ledger's commits is carried out. Each counts its effects. */
const WAYS: [string, (act: Act, state?: AuditedState) => Promise<unknown>][] = [
  [
    'act',
    (act, state = STATE) =>
      audit.act(act, async (session) => {
        const effects = database.db.collection<{ _id: string; n: number }>('effects');
        const count = { $inc: { n: 1 } };
        await effects.updateOne({ _id: act.approval ?? '' }, count, { session, upsert: true });
        return { result: true, before: state, after: null };
      }),
  ],
  ['record', (act, state = STATE) => audit.record(act, { before: state })],
];

describe.each(WAYS)('audit.%s', (way, carryOut) => {
  const expectNothing = async (act: Act, reason: string, state?: AuditedState) => {
    const before = await entriesOf(String(act.approval));
    const tried = carryOut(act, state);
    await expect(tried).rejects.toThrow(ApprovalRefused);
    await expect(tried).rejects.toThrow(reason);
    expect(await entriesOf(String(act.approval))).toEqual(before);
  };

  test('an approval is used once, and a second act with it has no effect', async () => {
    const approval = await approved();
    const act = actWith({ approval });
    await carryOut(act);
    expect(await stored().findOne({ _id: approval })).toMatchObject({
      status: 'used',
      used_by: act.id,
    });
    await expectNothing(actWith({ approval }), 'the approval is used');
    expect(await entriesOf(approval)).toHaveLength(1);
  });

  test('of ten acts at once with one approval exactly one takes effect', async () => {
    const approval = await approved();
    const acts = Array.from({ length: 10 }, () => carryOut(actWith({ approval })));
    const ended = await Promise.allSettled(acts);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const each of ended) {
      if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(ApprovalRefused);
    }
    expect(await entriesOf(approval)).toHaveLength(1);
    const count = await database.db
      .collection<{ _id: string }>('effects')
      .findOne({ _id: approval });
    expect(count).toEqual(way === 'act' ? { _id: approval, n: 1 } : null);
  });

  test('an approval permits its own act alone, on an unchanged target, in its time', async () => {
    const approval = await approved();
    await expectNothing(actWith({ approval, action: 'keys.create' }), 'for another act');
    await expectNothing(actWith({ approval, target: 'ten_2' }), 'for another target');
    await expectNothing(actWith({ approval, tenantId: 'ten_2' }), 'no such approval');
    await expectNothing(actWith({ approval }), 'has changed', { daily_limit_minor: 501 });
    for (const [fields, reason] of [
      [{ expires_at: new Date(Date.now() - 1) }, 'expired'],
      [{ status: 'pending' }, 'pending'],
      [{ status: 'rejected' }, 'rejected'],
      [{ status: 'void' }, 'void'],
    ] as const) {
      await expectNothing(actWith({ approval: await approved(fields) }), reason);
    }
    expect(await stored().findOne({ _id: approval })).toMatchObject({ status: 'approved' });
  });
});

test('a used approval does not keep the account of a customer', async () => {
  const approval = await stored().findOne({ _id: await approved() });
  const body = { account_number: '0123456789', bank_code: '058' };
  const withAccount = { ...approval, input: { params: {}, body } } as Approval;
  expect(used(withAccount, 'act_1')).toMatchObject({
    status: 'used',
    used_by: 'act_1',
    input: { params: {}, body: { bank_code: '058' } },
  });
  expect(JSON.stringify(used(withAccount, 'act_1'))).not.toContain('0123456789');
});

test('a note beside an act leaves its approval for the act', async () => {
  const approval = await approved();
  const shown = { result: true, before: null, after: { result: 'not done' } };
  await audit.note(actWith({ approval }), async () => shown);
  expect(await stored().findOne({ _id: approval })).toMatchObject({ status: 'approved' });
  expect(await entriesOf(approval)).toMatchObject([{ after: { result: 'not done' } }]);
});

test('acts of one process at once are carried out one after the other, each once and without a conflict', async () => {
  let runs = 0;
  const acts = Array.from({ length: 40 }, () =>
    audit.act(actWith({}), () => {
      runs += 1;
      return Promise.resolve({ result: true, before: null, after: null });
    }),
  );
  expect(await Promise.all(acts)).toEqual(acts.map(() => true));
  expect(runs).toBe(40);
  expect((await audit.verify()).problems).toEqual([]);
});

test('an act that fails keeps no later one from its turn', async () => {
  const failing = audit.act(actWith({}), () => Promise.reject(new Error('a bug of the test')));
  const next = audit.record(actWith({}));
  await expect(failing).rejects.toThrow('a bug of the test');
  await next;
});
