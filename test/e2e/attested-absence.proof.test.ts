import { transferWorkflowId } from '../../src/capabilities/transfers/record.js';
import type { AuditEntry } from '../../src/core/audit/entry.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

/** Often enough that a change arrives during each step of a run. */
const CHANGES_EVERY_MS = 20;

let service: Service;
let tenant: TestTenant;
beforeAll(async () => {
  // A bank that recognizes no repeat, and whose "not found" proves nothing.
  service = await startService({
    oneProcess: true,
    env: { SANDBOX_BANK_RESEND_SAFETY: 'never', SANDBOX_BANK_TIMEOUT_MS: '1000' },
  });
  tenant = await service.tenant({ balanceMinor: 1_000_000 });
});
afterAll(() => service?.close());

/** A transfer of which the bank's "not found" proves nothing, and the command that attests its absence. */
async function absentTransfer(): Promise<{ id: string; line: string }> {
  const id = await tenant.send('005');
  await eventually('an operator is called', async () =>
    (await tenant.stored(id)).attention?.reason.includes('cannot rule it out') ? true : undefined,
  );
  return { id, line: `transfers retry ${id} --absent --reason ticket-12` };
}

const submissionsOf = async (id: string) => (await tenant.stored(id)).submissions;

test('a submission after an attested absence waits for another person, and is made once', async () => {
  const { id, line } = await absentTransfer();
  const asked = await bursar(`${line} --json`, service.env);
  expect(JSON.parse(asked.out)).toMatchObject({ done: false, approval: expect.any(String) });
  expect(await submissionsOf(id)).toBe(1);

  const approved = await bursarApproved(line, service.env);
  expect([approved.error, JSON.parse(approved.out)]).toMatchObject(['', { status: 'used' }]);
  await eventually('it is submitted once more', async () =>
    (await submissionsOf(id)) === 2 ? true : undefined,
  );
  const entries = await service.deps.database.db
    .collection<AuditEntry>('audit_log')
    .find({ target: id, action: 'transfers.retry' })
    .toArray();
  expect(entries).toMatchObject([{ approval: expect.any(String), after: { absence: 'attested' } }]);

  const repeated = await bursar(`transfers retry ${id} --reason ticket-12 --json`, service.env);
  expect(JSON.parse(repeated.out)).toMatchObject({ done: expect.any(Boolean) as boolean });
  expect(await submissionsOf(id)).toBe(2);
});

test('an approved submission is made although the record changes at this moment', async () => {
  const { id, line } = await absentTransfer();
  const run = service.deps.temporal.client.workflow.getHandle(transferWorkflowId(id));
  const changes = setInterval(
    () => void run.signal('recordChanged').catch(() => undefined),
    CHANGES_EVERY_MS,
  );
  try {
    const approved = await bursarApproved(line, service.env);
    expect([approved.error, JSON.parse(approved.out)]).toMatchObject(['', { status: 'used' }]);
  } finally {
    clearInterval(changes);
  }
  await eventually('it is submitted once more', async () =>
    (await submissionsOf(id)) === 2 ? true : undefined,
  );
});
