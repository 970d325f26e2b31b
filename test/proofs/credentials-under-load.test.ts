import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { Delivery } from '../../src/core/webhooks/event.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import {
  createTestOperator,
  operatorDeps,
  operatorSignIn,
  stopOperatorApis,
} from '../support/operators.js';
import { startReceiver, type Received, type Receiver } from '../support/receiver.js';
import { startClients } from '../support/rotation.js';
import { SHORT_WEBHOOK_TIMES, startService, type Service } from '../support/service.js';

let service: Service;
let receiver: Receiver;
beforeAll(async () => {
  service = await startService({ apis: 2, env: SHORT_WEBHOOK_TIMES });
  receiver = await startReceiver();
});
afterAll(async () => {
  await stopOperatorApis();
  await service?.close();
  await receiver?.close();
});

/** True if one of the signatures is by this secret. */
function isSigned(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

/** The hours of the overlap are over. */
const endOverlap = (endpoint: string) =>
  service.deps.database.db
    .collection<{ _id: string }>('webhook_endpoints')
    .updateOne(
      { _id: endpoint },
      { $set: { 'secrets.$[old].expires_at': new Date() } },
      { arrayFilters: [{ 'old.expires_at': { $ne: null } }] },
    );

/** An operator's script, which asks for its tenant again and again with the key that it has at this moment. */
function startScript(url: string, tenantId: string, key: () => string) {
  const stopping = new AbortController();
  const seen = { failed: [] as string[], calls: 0 };
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const response = await fetch(`${url}/operator/v1/tenants/${tenantId}`, {
        headers: { authorization: `Bearer ${key()}` },
      });
      if (response.status !== 200) seen.failed.push(`${response.status} ${await response.text()}`);
      else await response.arrayBuffer();
      seen.calls += 1;
      await sleep(100);
    }
  }
  const running = run();
  return {
    seen,
    /** Waits until a call that began after this moment is answered. */
    async turnOver(): Promise<void> {
      const { calls } = seen;
      await eventually('the script has gone on', () => (seen.calls > calls + 1 ? true : undefined));
    },
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}

test('the secret of an endpoint and the key of an operator are exchanged while transfers go on: no request fails, and no delivery is refused', async () => {
  const tenant = await service.tenant({ balanceMinor: 100_000_000_000 });
  const signIn = await operatorSignIn(service.env);
  const url = String(signIn['BURSAR_OPERATOR_URL']);
  const command = async (line: string) => {
    const { code, out, error } = await bursar(`${line} --json`, { ...service.env, ...signIn });
    expect([line, code, error]).toEqual([line, 0, '']);
    return JSON.parse(out) as Record<string, string>;
  };
  const endpoint = await command(
    `webhooks endpoints add --tenant ${tenant.id} --url ${receiver.url}`,
  );

  // The tenant's server verifies by the one secret that it has at this moment.
  let secret = String(endpoint['secret']);
  const answers = { taken: 0, refused: 0, older: 0 };
  let switchedAt = 0;
  receiver.behave((response, received) => {
    const isOurs = isSigned(secret, received);
    // A message that was signed before the exchange may arrive after it. It is sent again.
    const isOlder = Number(received.headers['webhook-timestamp']) * 1_000 < switchedAt;
    answers[isOurs ? 'taken' : isOlder ? 'older' : 'refused'] += 1;
    response.writeHead(isOurs ? 204 : 401).end();
  });
  const operator = await createTestOperator(await operatorDeps(service.env), ['viewer']);
  let operatorKey = operator.key;
  const script = startScript(url, tenant.id, () => operatorKey);
  const clients = startClients(
    () => service.apis,
    () => tenant.key,
  );
  const goOn = async () => {
    const before = answers.taken;
    await clients.turnOver();
    await script.turnOver();
    await eventually('further deliveries', () => (answers.taken > before + 2 ? true : undefined));
  };

  await goOn();
  const rotated = await command(`webhooks endpoints rotate ${endpoint['id']} --overlap-hours 1`);
  const added = await command(`operators add-key ${operator.id}`);
  const old = { secret, operatorKey };
  const next = String(rotated['secret']);
  /** Every process knows the change within a second: so many messages are of all of them. */
  const latest = () => receiver.received.slice(-20);
  await eventually('both secrets sign', () =>
    latest().every((one) => isSigned(next, one)) ? true : undefined,
  );
  switchedAt = Date.now();
  secret = next;
  operatorKey = String(added['key']);
  await goOn();
  const keys = await (await operatorDeps(service.env)).operators.listKeys(operator.id);
  const oldKey = keys.find(({ _id }) => _id !== added['id']);
  await command(`operators revoke-key ${oldKey?._id}`);
  await endOverlap(String(endpoint['id']));
  await eventually('the new secret signs alone', () =>
    latest().every((one) => !isSigned(old.secret, one)) ? true : undefined,
  );
  await goOn();
  await clients.stop();
  await script.stop();

  expect([clients.failed, script.seen.failed]).toEqual([[], []]);
  await service.allEnded();
  const deliveries = service.deps.database.db.collection<Delivery>('webhook_deliveries');
  await eventually('everything is delivered', async () => {
    const open = await deliveries.countDocuments({
      tenant_id: tenant.id,
      status: { $ne: 'delivered' },
    });
    return open === 0 ? true : undefined;
  });
  expect(answers.refused).toBe(0);
  // A slow machine may let an attempt run out of time; a signature that the tenant does not know would be refused.
  const errors = await deliveries.distinct('attempts.error', { tenant_id: tenant.id });
  expect(errors).not.toContain('refused');
  expect(errors).not.toContain('secret_unreadable');

  // The old key works no more.
  const refused = await fetch(`${url}/operator/v1/me`, {
    headers: { authorization: `Bearer ${old.operatorKey}` },
  });
  expect(refused.status).toBe(401);
});
