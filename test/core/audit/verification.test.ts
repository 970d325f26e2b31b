import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { AuditEntry } from '../../../src/core/audit/entry.js';
import { hashOf } from '../../../src/core/audit/entry.js';
import { createAudit } from '../../../src/core/audit/store.js';
import { createAuditVerifications } from '../../../src/core/audit/verification.js';
import { useApproval } from '../../../src/core/approvals/use.js';
import { examineAuditLog } from '../../../src/ops/doctor/audit-log.js';
import { createLog } from '../../../src/shared/log.js';
import { DAY_MS } from '../../../src/shared/durations.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let parts: ReturnType<typeof partsOf>;
beforeEach(async () => {
  database = await openTestDatabase();
  parts = partsOf();
});
afterEach(() => database.close());

function partsOf() {
  const { db } = database;
  const audit = createAudit(database, useApproval);
  const log = createLog({ level: 'silent', name: 'test' });
  /** The calls of the Schedule; a run does not need Temporal. */
  const calls: string[] = [];
  const handle = {
    update: async () => void calls.push('update'),
    trigger: async () => void calls.push('trigger'),
  };
  const client = {
    connection: { withDeadline: (_: number, call: () => Promise<void>) => call() },
    schedule: { getHandle: () => handle },
  } as unknown as Client;
  const config = { temporal: { taskQueue: 'bursar' } } as never;
  const verifications = createAuditVerifications({ db, audit, client, config, log });
  return { audit, verifications, calls };
}

const act = (target: string) =>
  parts.audit.record({
    id: randomUUID(),
    actor: { operator: 'opr_1', name: 'Ada', roles: ['operator'] },
    action: 'keys.revoke',
    target,
    tenantId: null,
    reason: null,
    requestId: null,
    approval: null,
  });
const entries = () => database.db.collection<AuditEntry>('audit_log');

test('the row of doctor passes after a verification, and fails once none has come for two days', async () => {
  expect(await examineAuditLog(database.db)).toMatchObject({ ok: true });
  await act('key_1');
  expect(await parts.verifications.run()).toMatchObject({
    entries: 1,
    problems: 0,
    sequence: 1,
    hash: (await entries().findOne({ _id: 1 }))?.hash,
  });
  expect(await examineAuditLog(database.db)).toMatchObject({
    ok: true,
    detail: 'verified up to entry 1',
  });
  const later = new Date(Date.now() + 3 * DAY_MS);
  expect(await examineAuditLog(database.db, later)).toMatchObject({
    ok: false,
    detail: 'not verified for 3 days',
  });
});

test('the row fails from the verification on that finds a changed entry, and says which', async () => {
  for (const target of ['key_1', 'key_2']) await act(target);
  await parts.verifications.run();
  await entries().updateOne({ _id: 2 }, { $set: { target: 'key_3' } });
  expect(await parts.verifications.run()).toMatchObject({ entries: 2, problems: 1 });
  await act('key_4');
  await parts.verifications.run();
  expect(await examineAuditLog(database.db)).toMatchObject({
    ok: false,
    detail: 'entry was changed, number 2',
  });
});

test('a chain that was written anew as a whole is not the one of the last verification', async () => {
  await act('key_1');
  await parts.verifications.run();
  const [entry] = await entries().find().toArray();
  const { hash: _, ...changed } = { ...(entry as AuditEntry), target: 'key_2' };
  const hash = hashOf(changed);
  await entries().updateOne({ _id: 1 }, { $set: { target: 'key_2', hash } });
  await database.db
    .collection<{ _id: string }>('audit_end')
    .updateOne({ _id: 'end' }, { $set: { hash } });
  expect((await parts.audit.verify()).problems).toEqual([]);
  expect(await parts.verifications.run()).toMatchObject({ entries: 1, problems: 1 });
  expect(await examineAuditLog(database.db)).toMatchObject({ ok: false });
});

test('a worker that starts has a late verification run at once, as after the restore of an old backup, and no other', async () => {
  await parts.verifications.keepSchedule();
  await parts.verifications.run();
  await parts.verifications.keepSchedule();
  expect(parts.calls).toEqual(['update', 'update']);
  await database.db
    .collection<{ _id: string }>('audit_end')
    .updateOne({ _id: 'verified' }, { $set: { ended_at: new Date(Date.now() - 2 * DAY_MS) } });
  await parts.verifications.keepSchedule();
  expect(parts.calls).toEqual(['update', 'update', 'update', 'trigger']);
});
