import { eventually } from '../support/eventually.js';
import { bursar } from '../support/cli.js';
import { cardClient } from '../support/cards.js';
import { issuerClient } from '../support/issuer.js';
import { shareService, type Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await shareService();
});
afterAll(() => service?.close());

test('a frozen tenant starts nothing and reads everything, what is under way ends, and the freeze is in the audit log', async () => {
  const tenant = await service.tenant({ balanceMinor: 10_000_000 });
  const pending = await tenant.send('006');
  const change = async (name: 'freeze' | 'unfreeze') => {
    const line = `tenants ${name} ${tenant.id} --reason stolen-keys --json`;
    const { code, out } = await bursar(line, service.env);
    expect(code).toBe(0);
    return JSON.parse(out) as { frozen_at: string | null };
  };
  const request = (method: string, body?: object) =>
    fetch(`${service.api.url}/api/v1/transfers`, {
      method,
      headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const post = () =>
    request('POST', {
      amount_minor: 150_000,
      recipient_account: '0123456789',
      recipient_bank_code: '058',
      narration: 'during the freeze',
    });

  expect(await change('freeze')).toMatchObject({ frozen_at: expect.any(String) });
  await eventually('the freeze is known', async () =>
    (await post()).status === 403 ? true : undefined,
  );
  expect((await request('GET')).status).toBe(200);
  await service.bank.decideTransfer(pending, 'paid');
  await tenant.waitFor(pending, 'completed');

  expect(await change('unfreeze')).toMatchObject({ frozen_at: null });
  await eventually('the tenant may send again', async () =>
    (await post()).status === 201 ? true : undefined,
  );
  const acts = await bursar(`audit list --target ${tenant.id} --json`, service.env);
  expect(JSON.parse(acts.out)).toMatchObject([
    { action: 'tenants.unfreeze', reason: 'stolen-keys', after: { frozen_at: null } },
    { action: 'tenants.freeze', before: { frozen_at: null } },
  ]);
});

test('a tenant that is frozen before its first money has a frozen wallet when money comes, until the freeze ends', async () => {
  const { db } = service.deps.database;
  const { id } = await service.deps.tenants.create({ name: 'Early', plan: 'sandbox' });
  const wallet = () =>
    db.collection<{ _id: string; is_frozen?: boolean }>('wallets').findOne({ _id: id });
  const run = async (line: string) =>
    expect(await bursar(`${line} --json`, service.env)).toMatchObject({ code: 0 });
  await run(`tenants freeze ${id} --reason stolen-keys`);
  await run(`wallets credit --tenant ${id} --amount-minor 5000 --reference r1`);
  expect(await wallet()).toMatchObject({ is_frozen: true, available_minor: 5_000n });
  await run(`ledger verify`);
  await run(`tenants unfreeze ${id} --reason new-keys`);
  expect(await wallet()).toMatchObject({ is_frozen: false, available_minor: 5_000n });
});

test('payments with the cards of a frozen tenant are declined, and approved again after the freeze', async () => {
  const tenant = await service.tenant({ balanceMinor: 1_000_000 });
  const { id } = await cardClient(tenant).issue({ funding: 'jit' });
  const issuer = issuerClient(service);
  const pay = async () => (await issuer.pay(id)).code;
  expect(await pay()).toBe('approved');
  await bursar(`tenants freeze ${tenant.id} --reason stolen-keys --json`, service.env);
  await eventually('the freeze is known', async () =>
    (await pay()) === 'cards_disabled' ? true : undefined,
  );
  const frozen = await tenant.balance();
  expect(await pay()).toBe('cards_disabled');
  expect(await tenant.balance()).toEqual(frozen);
  await bursar(`tenants unfreeze ${tenant.id} --reason new-keys --json`, service.env);
  await eventually('cards pay again', async () =>
    (await pay()) === 'approved' ? true : undefined,
  );
});
