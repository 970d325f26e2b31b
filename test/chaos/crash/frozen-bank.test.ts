import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';

/** The bank pays a repeated request twice, and rejects requests older than this. */
const CONCLUSIVE_AFTER_MS = 4_000;

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({
    bank: { deduplicate: false, conclusiveAfterMs: CONCLUSIVE_AFTER_MS },
    env: { SANDBOX_BANK_TIMEOUT_MS: '700' },
  });
  tenant = await service.tenant();
});

afterAll(async () => {
  await service?.close();
});

const entries = async (id: string, type: string, detail: string) =>
  (await tenant.stored(id)).timeline.filter((e) => e.type === type && e.detail?.includes(detail));

const until = (id: string, what: string, isSo: () => Promise<boolean>) =>
  eventually(`${id}: ${what}`, async () => ((await isSo()) ? true : undefined));

/** The account's name is cached before, so that the submission itself reaches the frozen bank. */
async function sendToFrozenBank(count: number): Promise<string[]> {
  await tenant.waitFor(await tenant.send(), 'completed');
  service.bank.freeze();
  const ids = await Promise.all(Array.from({ length: count }, () => tenant.send()));
  for (const id of ids) {
    await until(id, 'the order has timed out', async () => {
      const silences = await entries(id, 'provider_answer', 'timeout');
      return silences.length > 0;
    });
  }
  return ids;
}

async function expectPaidOnce(ids: string[]) {
  for (const id of ids) {
    await tenant.waitFor(id, 'completed');
    expect(await service.bank.journal(id)).toHaveLength(1);
  }
}

test('requests in the sockets of a bank that is thawed soon are paid once, though every sender has timed out', async () => {
  const ids = await sendToFrozenBank(8);
  service.bank.thaw();
  await expectPaidOnce(ids);
});

test('requests that are too old when the bank is thawed are proven absent, submitted again and paid once', async () => {
  const ids = await sendToFrozenBank(8);
  for (const id of ids) {
    await until(id, 'is old', async () => {
      const { timeline, polls } = await tenant.stored(id);
      const sent = timeline.find(({ type }) => type === 'submitted')?.at.getTime() ?? 0;
      return polls >= 1 && Date.now() - sent > CONCLUSIVE_AFTER_MS;
    });
  }
  service.bank.thaw();
  await expectPaidOnce(ids);
  for (const id of ids) {
    expect((await tenant.stored(id)).submissions).toBe(2);
    expect(await entries(id, 'poll', 'not_found')).not.toEqual([]);
  }
});

/** A network that holds requests back and delivers them when a test says so, after the sender has timed out. */
async function startSlowNetwork(bankUrl: string) {
  const heldRequests: { reference: string; deliver: () => Promise<number> }[] = [];
  let isHolding = false;

  async function forward(url: string, init: RequestInit, res: ServerResponse): Promise<number> {
    const answer = await fetch(bankUrl + url, init);
    const body = await answer.text();
    if (!res.destroyed) {
      res.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
    }
    return answer.status;
  }

  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const { authorization = '' } = req.headers;
      const headers = { authorization, 'content-type': 'application/json' };
      const isRequest = req.method === 'POST' && req.url === '/v1/transfers';
      const body = req.method === 'POST' ? { body: Buffer.concat(chunks).toString() } : {};
      const deliver = () =>
        forward(req.url ?? '/', { method: req.method ?? 'GET', headers, ...body }, res);
      if (isRequest && isHolding) heldRequests.push({ reference: referenceIn(chunks), deliver });
      else deliver().catch(() => res.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (on: boolean) => void (isHolding = on),
    /** Delivers the requests that were held back; returns the bank's status by reference. */
    deliver: async () =>
      new Map(
        await Promise.all(
          heldRequests
            .splice(0)
            .map(async (each) => [each.reference, await each.deliver()] as [string, number]),
        ),
      ),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const referenceIn = (chunks: Buffer[]) =>
  (JSON.parse(Buffer.concat(chunks).toString()) as { reference: string }).reference;

describe('a request that the network holds back until after "not found"', () => {
  let network: Awaited<ReturnType<typeof startSlowNetwork>>;

  beforeAll(async () => {
    network = await startSlowNetwork(service.bank.url);
    const worker = service.newWorker({ SANDBOX_BANK_URL: network.url });
    await service.worker.kill();
    await worker.start();
  });

  afterAll(() => network?.close());

  async function holdRequests(count: number) {
    network.hold(true);
    const ids = await Promise.all(Array.from({ length: count }, () => tenant.send()));
    for (const id of ids) {
      await until(id, 'the bank does not know it', async () => {
        const absent = await entries(id, 'poll', 'not_found');
        return absent.length > 0;
      });
    }
    network.hold(false);
    return ids;
  }

  test('a held-back request that the bank still accepts after the first "not found" is not submitted again', async () => {
    const ids = await holdRequests(5);
    const answers = await network.deliver();
    await expectPaidOnce(ids);
    for (const id of ids) {
      expect((await tenant.stored(id)).submissions).toBe(answers.get(id) === 201 ? 1 : 2);
    }
  });

  test('a held-back request that arrives after the second submission is rejected, and the transfer is paid once', async () => {
    const ids = await holdRequests(5);
    await expectPaidOnce(ids);
    const answers = await network.deliver();
    await expectPaidOnce(ids);
    for (const id of ids) {
      expect([answers.get(id), (await tenant.stored(id)).submissions]).toEqual([422, 2]);
    }
  });
});

test('after the freezes the ledger balances and agrees with the bank', async () => {
  expect(await service.problems()).toEqual([]);
});
