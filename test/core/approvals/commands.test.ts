import { randomUUID } from 'node:crypto';
import { createInstructionActivities } from '../../../activities/instructions.js';
import { createTransferActivities } from '../../../activities/transfers.js';
import type { Approval } from '../../../src/core/approvals/approval.js';
import type { AuditEntry } from '../../../src/core/audit/entry.js';
import { noLocalSubmissions } from '../../../src/core/instructions/local-submission-limiter.js';
import { createCallRates } from '../../../src/core/providers/call-rates.js';
import type { OperatorMessage } from '../../../src/core/instructions/workflow-contract.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { stopOperatorApis } from '../../support/operators.js';
import { POLICY_OF_ALL, startPolicyApi } from '../../support/policy-acts.js';
import { pendingTransfer } from '../../support/transfers.js';

let database: TestDatabase;
let deps: Awaited<ReturnType<typeof startPolicyApi>>['deps'];
beforeAll(async () => {
  database = await openTestDatabase();
  ({ deps } = await startPolicyApi(database, POLICY_OF_ALL));
});
afterAll(async () => {
  await stopOperatorApis();
  await database.close();
});

const ADA = { operator: 'opr_ada', name: 'Ada', roles: ['operator'] };
const transfers = () => database.db.collection<Transfer>('transfers');

async function processingTransfer(): Promise<Transfer> {
  const { id } = await deps.tenants.create({ name: 'Ada', plan: 'sandbox' });
  const transfer = pendingTransfer({ tenant_id: id, status: 'processing' });
  await transfers().insertOne(transfer);
  return transfer;
}

/** A command of an operator who has signed in, as its workflow gets it. */
async function command(
  { _id: target, tenant_id: tenantId }: Transfer,
  kind: 'complete' | 'verify',
): Promise<OperatorMessage> {
  const reason = 'the bank says so';
  const act = {
    id: randomUUID(),
    actor: ADA,
    action: `transfers.${kind}`,
    target,
    tenantId,
    reason,
    requestId: null,
    approval: null,
  };
  const stored = await deps.operatorActs.open(act, { force: false, sessionId: null });
  const message = { kind, actor: 'Ada', reason, sessionId: null, force: false, evidence: 'paid' };
  return { id: randomUUID(), command: stored, ...message };
}

const entriesOf = (target: string) =>
  database.db.collection<AuditEntry>('audit_log').find({ target }).sort({ _id: 1 }).toArray();

test('the end of a command is recorded once, however often its activity is repeated; another message with its id is a claim', async () => {
  const transfer = await processingTransfer();
  const { _id: id, tenant_id: tenantId } = transfer;
  const activities = createInstructionActivities(deps);
  const operator = await command(transfer, 'verify');
  const note = (message: OperatorMessage) =>
    activities.recordOperatorCommand({
      type: 'transfer',
      tenantId,
      id,
      actor: 'operator',
      detail: 'verify: The bank has been asked.',
      operator: message,
    });
  await note(operator);
  await note(operator);
  expect((await entriesOf(id)).map(({ actor }) => actor)).toEqual([ADA]);
  const { timeline } = (await transfers().findOne({ _id: id })) as Transfer;
  expect(timeline.filter(({ type }) => type === 'operator')).toHaveLength(1);

  await note({ ...operator, id: randomUUID() });
  expect((await entriesOf(id)).map(({ actor }) => actor)).toEqual([
    ADA,
    { operator: null, name: 'Ada', roles: [], claim: true },
  ]);
});

test('texts of a message that nobody has checked cannot change a line of the audit log, and hold no card number', async () => {
  const transfer = await processingTransfer();
  const { _id: id, tenant_id: tenantId } = transfer;
  const activities = createInstructionActivities(deps);
  const message = { kind: 'verify', sessionId: null, force: false, evidence: 'paid' } as const;
  const detail = 'verify: The bank has been asked.';
  const send = (actor: string, reason: string) => {
    const operator = { ...message, id: randomUUID(), actor, reason };
    const note = { type: 'transfer', tenantId, id, actor: 'operator', detail } as const;
    return activities.recordOperatorCommand({ ...note, operator });
  };
  await send('Ada\n\u001B[2K\u202E', 'half \ud800');
  await send('Ada', 'his card is 4111 1111 1111 1111');
  expect((await entriesOf(id)).map(({ actor, reason }) => [actor.name, reason])).toEqual([
    ['Ada[2K', 'half \ufffd'],
    ['Ada', 'his card is **** **** **** ****'],
  ]);
  const { timeline } = (await transfers().findOne({ _id: id })) as Transfer;
  expect(JSON.stringify(timeline)).not.toMatch(/4111|u001b|u202e/i);
  expect((await deps.audit.verify()).problems).toEqual([]);
});

test('a payment whose hold is released between the question and the commit is not charged without a second person', async () => {
  const transfer = await processingTransfer();
  const { _id: id, tenant_id: tenantId } = transfer;
  const { store } = deps.transfers;
  // The bank rejects the payment, and then reports it as paid, right after the activity has read the record.
  let reads = 0;
  const overtaken: typeof store = {
    ...store,
    async get(...of) {
      const found = await store.get(...of);
      reads += 1;
      const set = { status: 'failed', in_suspense: true } as const;
      if (reads === 1)
        await transfers().updateOne({ _id: id }, { $set: set, $inc: { version: 1 } });
      return found;
    },
  };
  const { applyTransferOutcome } = createTransferActivities({
    ...deps,
    transfers: { ...deps.transfers, store: overtaken },
    localSubmissions: noLocalSubmissions,
    callRates: createCallRates({ limits: [], workers: () => 1 }),
  });
  const operator = await command(transfer, 'complete');
  const fact = { kind: 'operator_confirmed', providerRequestId: null, via: 'poll' } as const;
  const result = await applyTransferOutcome({ tenantId, id, fact, operator });
  expect(result).toMatchObject({ status: 'failed', approval: expect.stringMatching(/^apr_/) });
  expect(await transfers().findOne({ _id: id })).toMatchObject({ in_suspense: true });
  expect(await database.db.collection('postings').countDocuments({ tenant_id: tenantId })).toBe(0);
  const approvals = database.db.collection<Approval>('approvals');
  expect(await approvals.findOne({ _id: String(result.approval) })).toMatchObject({
    kind: 'transfers.complete',
    target: id,
    evidence: 'paid',
  });
});
