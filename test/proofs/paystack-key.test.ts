import { createHmac } from 'node:crypto';
import { eventually } from '../support/eventually.js';
import { rollingRestarts, startClients } from '../support/rotation.js';
import { startRehearsal, type Rehearsal } from '../paystack/rehearsal.js';

const EARLIER = 'sk_live_inventedearlier';
const LATER = 'sk_live_inventedlater00';
/** The keys that Paystack accepts, of which the first signs its messages. */
const keys = [EARLIER];

const PAID_WITHOUT_EVENT = '020';

/**
 * A client's pause. In live all calls to Paystack together are 15 a second, of which a worker has a third while two that it has
 * replaced still count: up to two minutes. A transfer takes at least two calls.
 */
const PAUSE_MS = 1_500;

let rehearsal: Rehearsal;

beforeAll(async () => {
  rehearsal = await startRehearsal({ keys }, { PAYSTACK_SECRET_KEY: EARLIER });
});
afterAll(() => rehearsal?.close());

/** The status of the answer to a message that is signed with this key. */
async function message(key: string): Promise<number> {
  const body = JSON.stringify({ event: 'unknown.event', data: {} });
  const signature = createHmac('sha512', key).update(body).digest('hex');
  const { status } = await fetch(`${rehearsal.service.api.url}/api/v1/webhooks/payments/paystack`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-paystack-signature': signature },
    body,
  });
  return status;
}

test('the key of Paystack is exchanged while requests go on: none fails, transfers wait until the processes have the new key, and each is paid once', async () => {
  const { service, fake } = rehearsal;
  const second = await service.newApi();
  await second.start();
  const tenant = await service.tenant({ balanceMinor: 100_000_000_000 });
  const { api: first, worker } = service;
  const rolling = rollingRestarts(service, { first, second, worker });
  const clients = startClients(rolling.apis, () => tenant.key, {
    rare: PAID_WITHOUT_EVENT,
    pauseMs: PAUSE_MS,
    // Transfers wait until the processes have the new key, and clients go on.
    openAtMost: Infinity,
  });
  const goOn = async () => {
    await clients.turnOver();
    await clients.turnOver();
  };
  await goOn();

  // Paystack makes a new key, and refuses the old one from then on.
  keys.splice(0, 1, LATER);
  const faults = () => service.deps.providerFaults.list({ ended: true });
  await eventually('the refused key is known', async () =>
    (await faults()).some(({ name }) => name === 'credentials') ? true : undefined,
  );
  await goOn();
  expect(await message(EARLIER)).toBe(200);
  expect(await message(LATER)).toBe(401);
  await rolling.restart({ PAYSTACK_SECRET_KEY: `${LATER},${EARLIER}` }, goOn);
  await eventually('the fault has ended', async () =>
    (await faults()).every(({ ended_at: ended }) => ended !== null) ? true : undefined,
  );
  await rolling.restart({ PAYSTACK_SECRET_KEY: LATER }, goOn);
  await clients.stop();
  expect(clients.failed).toEqual([]);

  await service.allEnded();
  const paidOut = fake.journal().filter(({ kind }) => kind === 'paid_out');
  const references = paidOut.map(({ reference }) => reference).toSorted();
  expect(references).toEqual(clients.made.map(({ id }) => id).toSorted());
  expect(await rehearsal.problems()).toEqual([]);
  expect([await message(EARLIER), await message(LATER)]).toEqual([401, 200]);
});
