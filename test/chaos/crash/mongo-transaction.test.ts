import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import {
  transferBody,
  ORDER_TOTAL_MINOR,
  untilTaken,
  type Reply,
  type TestTenant,
} from '../../support/tenant.js';

const BALANCE_MINOR = 1_000_000;

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service?.close();
});

/** Kills an API inside the transaction of a transfer, after all writes and before the commit. */
async function dieInside(tenant: TestTenant, lost: ReturnType<typeof transferBody>): Promise<void> {
  const dying = await service.newApi({ BURSAR_FAILPOINT: 'commit.before' });
  await dying.start();
  const sent = untilTaken((under) => tenant.at(dying.url).transfer(lost, under));
  await expect(sent).rejects.toThrow();
  expect((await dying.stop()).signal).toBe('SIGKILL');
  expect(dying.output()).toContain('failpoint commit.before');
}

test('an API that dies inside a transaction leaves no writes, and blocks the wallet for seconds only', async () => {
  const tenant = await service.tenant({ balanceMinor: BALANCE_MINOR });
  const lost = transferBody();
  await dieInside(tenant, lost);

  const [body, key] = [transferBody(), 'asked again and again'];
  const refused: Reply[] = [];
  const accepted = await eventually('the wallet takes a transfer', async () => {
    const reply = await tenant.transfer(body, { key });
    if (reply.status === 201) return reply;
    refused.push(reply);
    return undefined;
  });
  for (const { status, headers, body: answer } of refused) {
    expect([status, answer.error.code]).toEqual([503, 'service_unavailable']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await tenant.waitFor(accepted.body.data.id, 'completed');

  const { db } = service.deps.database;
  const left = { tenant_id: tenant.id, reference: lost.reference };
  expect(await db.collection('transfers').countDocuments(left)).toBe(0);
  expect(await tenant.balance()).toEqual({ available: BALANCE_MINOR - ORDER_TOTAL_MINOR, held: 0 });
});

test('transfers of other wallets are accepted while an abandoned transaction blocks a wallet', async () => {
  const blocked = await service.tenant();
  const others = await Promise.all(Array.from({ length: 8 }, () => service.tenant()));
  await dieInside(blocked, transferBody());
  const replies = await Promise.all(others.map((other) => other.transfer(transferBody())));
  expect(replies.map(({ status }) => status)).toEqual(others.map(() => 201));
});

test('after the crashes the ledger balances and agrees with the bank', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
