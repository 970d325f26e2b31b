import type { AuditEntry } from '../../src/core/audit/entry.js';
import { revocationsIn } from '../../src/ops/revocations.js';

/** The parts of an entry that decide. */
const entry = (
  action: string,
  target: string,
  before: AuditEntry['before'],
  after: AuditEntry['after'],
) => ({ action, target, tenant_id: null, before, after }) as AuditEntry;

const commandsOf = async (...entries: AuditEntry[]) =>
  (await revocationsIn(entries, () => Promise.resolve(null))).map(({ command }) => command);

test('an account that a sign-in after the backup made has no command, but the advice to go to the issuer', async () => {
  const account = { id: 'opr_1', name: 'Ada', roles: ['admin'], disabled_at: null };
  const disabled = { ...account, disabled_at: '2026-11-27T08:00:00.000Z' };
  const [only, ...others] = await commandsOf(
    entry('operators.sign_in', 'ada@example.com', null, account),
    entry('operators.update', 'opr_1', account, disabled),
    entry('operators.sign_in', 'bayo@example.com', null, { ...account, id: 'opr_2' }),
  );
  expect(only).toMatch(/^# .* at the issuer/);
  expect(others).toEqual([]);
});

test('an approval that an act has used counts as older, and one that was asked for since as gone', async () => {
  const rejected = (id: string) => entry('approvals.reject', id, {}, { status: 'rejected' });
  const commands = await commandsOf(
    entry('approvals.request', 'key_1', null, { approval: 'apr_new', kind: 'keys.create' }),
    entry('customers.create', 'ada', null, { approval: 'apr_old' }),
    rejected('apr_new'),
    rejected('apr_old'),
  );
  expect(commands).toEqual([expect.stringContaining('bursar approvals reject apr_old')]);
});

test('each lowered setting of a tenant has a command of its own, the least amount of a transfer first', async () => {
  const before = { min_amount_minor: 5_000, max_amount_minor: 90_000, daily_limit_minor: 90_000 };
  const after = { min_amount_minor: 1_000, max_amount_minor: 4_000, daily_limit_minor: 9_000 };
  expect(await commandsOf(entry('tenants.update', 'ten_1', before, after))).toEqual([
    'bursar tenants update ten_1 --min-amount-minor 1000',
    'bursar tenants update ten_1 --max-amount-minor 4000',
    'bursar tenants update ten_1 --daily-limit-minor 9000',
  ]);
});
