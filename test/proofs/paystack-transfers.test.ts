import { examinePaystack } from '../../src/ops/doctor/paystack.js';
import { loadConfig } from '../../src/shared/config.js';
import { eachAtOnce } from '../support/at-once.js';
import { eventually } from '../support/eventually.js';
import type { TestTenant } from '../support/tenant.js';
import { startRehearsal, type Rehearsal } from '../paystack/rehearsal.js';

let rehearsal: Rehearsal;
let tenant: TestTenant;

beforeAll(async () => {
  rehearsal = await startRehearsal();
  tenant = await rehearsal.service.tenant({ balanceMinor: 50_000_000 });
});
afterAll(() => rehearsal?.close());

const paidOut = (id: string) =>
  rehearsal.fake.journal().filter((each) => each.reference === id && each.kind === 'paid_out')
    .length;

describe('transfers of live by Paystack', () => {
  test('a transfer is paid once, with its session, its recipient and its provider', async () => {
    const id = await tenant.send('100');
    expect(await tenant.waitFor(id, 'completed')).toMatchObject({
      provider: 'paystack',
      recipient_name: 'Adaeze Holder 100',
      recipient_bank: 'Guaranty Trust Bank',
      session_id: expect.stringMatching(/^[0-9]{17,30}$/) as string,
    });
    expect(paidOut(id)).toBe(1);
  });

  eachAtOnce([
    ['its answer is lost, and it is not found at first', '004'],
    ['its request is lost', '005'],
    ['its recipient was deleted', '014'],
    ['it is never reported', '020'],
  ])('a transfer is paid once, although %s', async (_what, suffix) => {
    const id = await tenant.send(suffix);
    await tenant.waitFor(id, 'completed');
    expect(paidOut(id)).toBe(1);
  });

  eachAtOnce([
    ['fails', '002', 'provider_declined'],
    ['misses an approval', '017', 'approval_missed'],
    ['is refused an approval', '018', 'approval_rejected'],
  ])('a transfer that %s fails, and its money is back', async (_what, suffix, code) => {
    const id = await tenant.send(suffix);
    expect(await tenant.waitFor(id, 'failed')).toMatchObject({ failure: { code } });
    expect(paidOut(id)).toBe(0);
  });

  test('a transfer that is paid and then reversed gives the money back', async () => {
    const id = await tenant.send('006');
    await eventually('the transfer is reversed', async () =>
      (await tenant.get(id)).reversed_at === null ? undefined : true,
    );
  });

  test.each(['throttle_seconds', 'throttle_time_stamp', 'error_500_after', 'drop_after'] as const)(
    'a submission that ends with %s is paid once',
    async (fault) => {
      rehearsal.fake.plan('submit', fault);
      const id = await tenant.send('100');
      await tenant.waitFor(id, 'completed');
      expect(paidOut(id)).toBe(1);
    },
  );

  test('a float that is too small makes a transfer wait, and never fail', async () => {
    const id = await tenant.send('013');
    await tenant.waitFor(id, 'completed');
    expect(paidOut(id)).toBe(1);
  });

  test('a transfer that stays pending goes on by its event', async () => {
    const id = await tenant.send('001');
    await tenant.waitFor(id, 'processing');
    rehearsal.fake.moveTransfer(id, 'success');
    await tenant.waitFor(id, 'completed');
  });

  test('the doctor names the key, the float, the clock and the last callback', async () => {
    const checks = await examinePaystack(loadConfig(rehearsal.service.env));
    expect(checks.map(({ check, ok }) => [check, ok])).toEqual([
      ['paystack: key', true],
      ['paystack: float', true],
      ['paystack: clock', true],
      ['paystack: callbacks', true],
    ]);
    expect(JSON.stringify(checks)).not.toContain('inventedkey');
  });

  test('the books balance', async () => {
    expect(await rehearsal.problems()).toEqual([]);
  });
});
