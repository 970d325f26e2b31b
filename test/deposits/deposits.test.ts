import type { z } from 'zod';
import { createDepositActivities } from '../../activities/deposits.js';
import { depositId, UNOWNED } from '../../src/capabilities/deposits/record.js';
import type { depositResource } from '../../src/capabilities/deposits/schema.js';
import type { VirtualAccount } from '../../src/capabilities/virtual-accounts/record.js';
import { eachAtOnce } from '../support/at-once.js';
import { bursar, bursarApproved } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import {
  accountClient,
  type AccountClient,
  type AccountView,
} from '../support/virtual-accounts.js';

type DepositView = z.infer<typeof depositResource>;
type Account = AccountView & { account_number: string };

let service: Service;
let tenant: TestTenant;
let accounts: AccountClient;
let receiver: Receiver;

beforeAll(async () => {
  const env = {
    BURSAR_ATTENTION_AFTER_MS: '3000',
    BURSAR_WEBHOOK_ALLOW_PRIVATE: 'true',
    BURSAR_DEPOSIT_SEARCH_DAYS: '1',
    BURSAR_DEPOSIT_SEARCH_EVERY_MS: '5000',
  };
  service = await startService({ oneProcess: true, env });
  tenant = await service.tenant({ balanceMinor: 0 });
  accounts = accountClient(tenant);
  receiver = await startReceiver();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const idOf = (theirs: string) => depositId('sandbox-bank', theirs);
const stored = (id: string) => service.deps.deposits.store.find(id);

const get = async (id: string, client = accounts): Promise<DepositView> =>
  (await client.call<DepositView>('GET', `/virtual-accounts/deposits/${id}`)).body.data;

const waitFor = (id: string, fits: (deposit: DepositView) => boolean) =>
  eventually(`${id} is as wanted`, async () => {
    const { body } = await accounts.call<DepositView>('GET', `/virtual-accounts/deposits/${id}`);
    return body.success && fits(body.data) ? body.data : undefined;
  });
const isState = (state: DepositView['status']) => (deposit: DepositView) =>
  deposit.status === state;

/** Expects one entry of the signed-in operator, and a timeline that tells tenants neither who nor why. */
async function isAudited(id: string, action: string, reason: string): Promise<void> {
  const actor = { operator: expect.stringMatching(/^opr_/) };
  const entries = await service.deps.audit.latest({ target: id }, 10);
  expect(entries).toMatchObject([{ action, reason, actor }]);
  const entry = (await stored(id))?.timeline.find(({ internal }) => internal?.endsWith(reason));
  expect(entry).toMatchObject({ actor: 'operator', detail: expect.not.stringContaining(reason) });
}

let sender = 0;
/** Sends money. The ending of the sender's name selects what the bank reports. */
async function pay(account: Account, suffix = 'Obi', changes: Record<string, unknown> = {}) {
  const order = {
    amount_minor: 250_000,
    sender_name: `Ada ${(sender += 1)} ${suffix}`,
    ...changes,
  };
  return idOf(await service.bank.deposit(account.account_number, order));
}

describe('a deposit', () => {
  test('is credited to the wallet and to the total of its account, and its event is sent', async () => {
    const account = await accounts.active();
    const before = await tenant.balance();
    const id = await pay(account);
    expect(await waitFor(id, isState('credited'))).toMatchObject({
      virtual_account_id: account.id,
      amount_minor: 250_000,
      fee_minor: 0,
      match: 'unexpected',
      sender: { account: '******0031', bank: 'Access Bank' },
      attention: null,
    });
    expect((await tenant.balance()).available).toBe(before.available + 250_000);
    expect((await accounts.get(account.id)).total_received_minor).toBe(250_000);
    const event = await eventually('the event arrives', () =>
      receiver.events().find(({ data }) => data['id'] === id),
    );
    expect(event.event).toBe('virtual_account.credited');
    const { body } = await accounts.call<DepositView[]>(
      'GET',
      `/virtual-accounts/${account.id}/deposits`,
    );
    expect(body.data.map((each) => each.id)).toEqual([id]);
    expect(body.pagination).toMatchObject({ total: 1 });
  });

  test('that is told ten times is credited once', async () => {
    const account = await accounts.active();
    const session_id = `session-${process.pid}`;
    const id = await pay(account, 'Obi', { times: 10, session_id });
    expect(await pay(account, 'Obi', { times: 3, session_id })).toBe(id);
    await waitFor(id, isState('credited'));
    await eventually('all messages are answered', async () =>
      (await service.bank.callbacksWaiting()) === 0 ? true : undefined,
    );
    expect((await accounts.get(account.id)).total_received_minor).toBe(250_000);
  });

  eachAtOnce([
    ['001', 'is found 2 s after its message'],
    ['003', 'is told only after a requery'],
    ['004', 'is in the list only'],
    ['007', 'was told with another amount'],
    ['010', 'was told by the other environment'],
  ])(
    'of the sender …%s, which %s, is credited once with the amount of the answer',
    async (suffix) => {
      const account = await accounts.active();
      const id = await pay(account, suffix);
      expect(await waitFor(id, isState('credited'))).toMatchObject({ amount_minor: 250_000 });
      expect((await accounts.get(account.id)).total_received_minor).toBe(250_000);
    },
  );

  test('that arrived before its account was closed, and that only a requery shows, is credited', async () => {
    const account = await accounts.active();
    const id = await pay(account, '003');
    await accounts.close(account.id);
    await accounts.waitFor(account.id, 'closed');
    expect(await waitFor(id, isState('credited'))).toMatchObject({ match: 'unexpected' });
  });

  test('that only a requery shows is found after its account has closed, and is in suspense', async () => {
    const account = await accounts.active();
    await accounts.close(account.id);
    await accounts.waitFor(account.id, 'closed');
    const id = await pay(account, '003');
    const found = await waitFor(id, isState('suspended'));
    expect(found).toMatchObject({ match: 'late', virtual_account_id: account.id });
  });

  test('that is told by nobody is found in the list', async () => {
    const id = await pay(await accounts.active(), 'Obi', { tell: 'nobody' });
    await waitFor(id, isState('credited'));
  });

  test('that the provider does not have is never credited, and calls an operator', async () => {
    const account = await accounts.active();
    const id = await pay(account, '002');
    const stuck = await waitFor(id, ({ attention }) => attention !== null);
    expect(stuck.status).toBe('received');
    expect((await accounts.get(account.id)).total_received_minor).toBe(0);
    const forced = `deposits fail ${id} --reason none --force`;
    expect((await bursarApproved(forced, service.env)).code).toBe(0);
    expect((await get(id)).status).toBe('reversed');
  });

  eachAtOnce<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['zero', { amount_minor: 0 }, { currency: 'NGN' }],
    ['negative', { amount_minor: -5_000 }, { currency: 'NGN' }],
    [
      'in another currency, which it is shown with,',
      { amount_minor: 7_000, currency: 'USD' },
      { amount_minor: 7_000, currency: 'USD' },
    ],
  ])('that is %s is not credited, and calls an operator', async (_, changes, shown) => {
    const account = await accounts.active();
    const id = await pay(account, 'Obi', changes);
    const found = await waitFor(id, ({ attention }) => attention !== null);
    expect(found).toMatchObject({ status: 'received', ...shown });
    expect((await accounts.get(account.id)).total_received_minor).toBe(0);
  });

  test('that the provider reverses is debited, and the tenant owes what the wallet lacks', async () => {
    const poor = await service.tenant({ balanceMinor: 0 });
    const client = accountClient(poor);
    const account = await client.active();
    const id = await pay(account, '006');
    await eventually('it is reversed', async () => {
      const deposit = await get(id, client).catch(() => null);
      return deposit?.status === 'reversed' ? deposit : undefined;
    });
    expect((await poor.balance()).available).toBe(0);
    expect((await client.get(account.id)).total_received_minor).toBe(0);
    const second = await service.bank.deposit(account.account_number, { amount_minor: 90_000 });
    await eventually('it is credited', async () =>
      (await stored(idOf(second)))?.state === 'credited' ? true : undefined,
    );
    await poor.send('789', { amount_minor: 50_000 });
    await service.bank.reverseDeposit(second);
    const owed = await eventually('it is reversed', async () => {
      const deposit = await stored(idOf(second));
      return deposit?.state === 'reversed' ? deposit : undefined;
    });
    expect(owed.attention?.reason).toContain('owes the rest');
    const line = `deposits acknowledge ${idOf(second)} --reason agreed`;
    expect((await bursar(line, service.env)).code).toBe(0);
    await isAudited(idOf(second), 'deposits.acknowledge', 'agreed');
    expect(await stored(idOf(second))).toMatchObject({ attention: null, next_check_at: null });
    expect((await bursar(line, service.env)).code).toBe(1);
    const workflowId = `deposit-confirmation/${idOf(second)}`;
    await eventually('its workflow ends', async () => {
      const { status } = await service.deps.temporal.client.workflow
        .getHandle(workflowId)
        .describe();
      return status.name === 'COMPLETED' ? true : undefined;
    });
  });
});

describe('a deposit that is expected to have an amount', () => {
  test('exact, under and over are credited and named', async () => {
    const account = await accounts.active('789', { expected_amount_minor: 250_000 });
    for (const [amount_minor, match] of [
      [250_000, 'exact'],
      [249_999, 'under'],
      [250_001, 'over'],
    ] as const) {
      const id = await pay(account, 'Obi', { amount_minor });
      expect(await waitFor(id, isState('credited'))).toMatchObject({ match });
    }
    expect((await accounts.get(account.id)).total_received_minor).toBe(750_000);
  });

  test.each([
    ['Obi', 'at once'],
    ['013', 'without an answer'],
  ])('of another amount is returned to the sender …%s, once, %s', async (suffix) => {
    const account = await accounts.active('789', {
      expected_amount_minor: 100_000,
      on_mismatch: 'return',
    });
    const before = await tenant.balance();
    const id = await pay(account, suffix);
    expect(await waitFor(id, isState('returned'))).toMatchObject({ match: 'over' });
    expect(await tenant.balance()).toEqual(before);
    expect((await accounts.get(account.id)).total_received_minor).toBe(0);
  });

  test('that the provider reverses before it is returned is reversed, and calls nobody', async () => {
    const account = await accounts.active('789', {
      expected_amount_minor: 100_000,
      on_mismatch: 'return',
    });
    await service.bank.faults([{ call: 'return', kind: 'error_500', probability: 1 }]);
    const theirs = await service.bank.deposit(account.account_number, { amount_minor: 250_000 });
    await waitFor(idOf(theirs), isState('suspended'));
    // The return has a workflow of its own, and the one of the confirmation ends without touching it.
    const { verifyDepositConfirmation } = createDepositActivities({
      ...service.deps,
      localSubmissions: {} as never,
      callRates: {} as never,
    });
    const ref = { tenantId: tenant.id, id: idOf(theirs), nextPollMs: 1_000 };
    expect(await verifyDepositConfirmation(ref)).toEqual({ kind: 'closed', attention: null });
    await service.bank.reverseDeposit(theirs);
    await eventually('its message is answered', async () =>
      (await service.bank.callbacksWaiting()) === 0 ? true : undefined,
    );
    await service.bank.faults([]);
    expect(await waitFor(idOf(theirs), isState('reversed'))).toMatchObject({ attention: null });
  });

  test('stays in suspense with attention if the provider refuses the return', async () => {
    const account = await accounts.active('789', {
      expected_amount_minor: 100_000,
      on_mismatch: 'return',
    });
    const id = await pay(account, '012');
    expect(await waitFor(id, ({ attention }) => attention !== null)).toMatchObject({
      status: 'suspended',
    });
  });
});

describe('a deposit in suspense', () => {
  test('whose return was ended by force is given to nobody, and is returned once that is proven', async () => {
    const [closed, other] = [await accounts.active(), await accounts.active()];
    await accounts.close(closed.id);
    await accounts.waitFor(closed.id, 'closed');
    const before = await tenant.balance();
    const id = await pay(closed);
    await waitFor(id, isState('suspended'));
    // The bank returns the money. Neither its answer nor a later question reaches us.
    await service.bank.faults([
      { call: 'return', kind: 'drop_after', probability: 1 },
      { call: 'lookup', kind: 'error_500', probability: 1 },
    ]);
    const ordered = await bursar(`deposits return ${id} --reason closed`, service.env);
    expect(ordered.code).toBe(0);
    await eventually('it is submitted', async () =>
      (await stored(id))?.status === 'processing' ? true : undefined,
    );
    const forced = await bursarApproved(`deposits fail ${id} --reason gone --force`, service.env);
    expect(forced.code).toBe(0);
    const line = `deposits assign ${id} --account ${other.id} --reason paid-too-late`;
    const refused = await bursar(line, service.env);
    expect([refused.code, refused.error]).toEqual([
      1,
      expect.stringContaining('may have returned it'),
    ]);
    await service.bank.faults([]);
    await bursar(`deposits verify ${id} --reason proof`, service.env);
    expect(await waitFor(id, isState('returned'))).toMatchObject({ attention: null });
    expect(await tenant.balance()).toEqual(before);
    expect((await bursar(line, service.env)).code).toBe(1);
  });

  test('on a closed account waits for an operator, who assigns it', async () => {
    const [closed, other] = [await accounts.active(), await accounts.active()];
    await accounts.close(closed.id);
    await accounts.waitFor(closed.id, 'closed');
    const before = await tenant.balance();
    const id = await pay(closed);
    const suspended = await waitFor(id, isState('suspended'));
    expect(suspended).toMatchObject({
      match: 'late',
      attention: { reason: 'the account is closed' },
    });
    expect(await tenant.balance()).toEqual(before);
    const refused = `deposits assign ${id} --account ${closed.id} --reason closed`;
    expect((await bursar(refused, service.env)).code).toBe(1);
    const full = await accounts.active();
    const hasReceived = (minor: number) =>
      service.deps.database.db
        .collection<VirtualAccount>('virtual_accounts')
        .updateOne(
          { _id: full.id, tenant_id: tenant.id },
          { $set: { total_received_minor: BigInt(minor) } },
        );
    await hasReceived(Number.MAX_SAFE_INTEGER);
    const tooMuch = `deposits assign ${id} --account ${full.id} --reason full`;
    expect(await bursar(tooMuch, service.env)).toMatchObject({
      code: 1,
      error: expect.stringContaining('more than is allowed'),
    });
    expect(await service.deps.audit.latest({ target: id }, 1)).toEqual([]);
    await hasReceived(0);
    const line = `deposits assign ${id} --account ${other.id} --reason paid-too-late`;
    expect((await bursar(line, service.env)).code).toBe(0);
    await isAudited(id, 'deposits.assign', 'paid-too-late');
    expect(await get(id)).toMatchObject({ status: 'credited', virtual_account_id: other.id });
    expect((await tenant.balance()).available).toBe(before.available + 250_000);
    expect((await bursar(line, service.env)).code).toBe(1);
  });

  test('on an account that the provider closes first is late', async () => {
    const account = await accounts.active();
    const id = await pay(account, '008');
    expect(await waitFor(id, isState('suspended'))).toMatchObject({ match: 'late' });
  });

  test('beyond the limit of a deposit is returned by an operator', async () => {
    const id = await pay(await accounts.active(), 'Obi', { amount_minor: 9_000_000_000_000_000 });
    await waitFor(id, isState('suspended'));
    const returned = await bursar(`deposits return ${id} --reason too-much`, service.env);
    expect(returned.code).toBe(0);
    await isAudited(id, 'deposits.return', 'too-much');
    await waitFor(id, isState('returned'));
  });

  test('on an account that nobody has belongs to no tenant, until an operator assigns it', async () => {
    const account = await accounts.active();
    const id = await pay(account, '009');
    const unowned = await eventually('it is in suspense', async () => {
      const deposit = await stored(id);
      return deposit?.state === 'suspended' ? deposit : undefined;
    });
    expect(unowned).toMatchObject({ tenant_id: UNOWNED, match: 'unexpected' });
    expect((await accounts.call('GET', `/virtual-accounts/deposits/${id}`)).status).toBe(404);
    const before = await tenant.balance();
    const line = `deposits assign ${id} --account ${account.id} --reason found --json`;
    const assigned = await bursar(line, service.env);
    expect(assigned.code).toBe(0);
    await isAudited(id, 'deposits.assign', 'found');
    const { moved_to: moved } = JSON.parse(assigned.out) as { moved_to: string };
    await waitFor(moved, isState('credited'));
    expect((await tenant.balance()).available).toBe(before.available + 250_000);
    expect((await accounts.get(account.id)).total_received_minor).toBe(250_000);
  });
});

describe('the list of deposits', () => {
  test.each([
    ['offset', '?page=1&offset=0'],
    ['status', '?status=paid'],
    ['sort', '?sort=amount'],
    ['end_date', '?start_date=2026-01-02&end_date=2026-01-01'],
  ])('a bad %s is a 400 that names it', async (field, query) => {
    const { status, body } = await accounts.call('GET', `/virtual-accounts/deposits${query}`);
    expect([status, body.error.field]).toEqual([400, field]);
  });

  test('filters and totals agree', async () => {
    const list = async (query: string) => {
      const path = `/virtual-accounts/deposits?limit=100${query}`;
      const { body } = await accounts.call<DepositView[]>('GET', path);
      expect(body.pagination?.total).toBe(body.data.length);
      return body.data;
    };
    const all = await list('');
    for (const status of ['received', 'credited', 'suspended', 'returned', 'reversed'] as const) {
      const wanted = all.filter((each) => each.status === status).map(({ id }) => id);
      expect((await list(`&status=${status}`)).map(({ id }) => id)).toEqual(wanted);
    }
    expect((await list('&sort=created_at')).map(({ id }) => id)).toEqual(
      all.map(({ id }) => id).toReversed(),
    );
    const session = all.find(({ session_id: id }) => id !== null)?.session_id;
    expect(await list(`&session_id=${session}`)).toHaveLength(1);
  });
});

test('the ledger and the bank agree with all of this', async () => {
  expect(await service.problems()).toEqual([]);
});
