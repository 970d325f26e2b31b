import { shareService, SHARED_OPTIONS, type Service } from '../../support/service.js';
import { transferBody, type TestTenant } from '../../support/tenant.js';

let service: Service;
let tenant: TestTenant;
beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.twoApis);
  tenant = await service.tenant();
});
afterAll(() => service?.close());

const STATES = ['pending', 'processing', 'completed'];

type Seen = { sent: number; received: number; state: number; text: string };

/** Sends the same request once more, to one of the API processes. */
async function repeat(
  { url, key, body }: { url: string; key: string; body: Record<string, unknown> },
  wait: number | null,
): Promise<Seen> {
  const sent = performance.now();
  const headers = wait === null ? {} : { prefer: `wait=${wait}` };
  const reply = await tenant.at(url).transfer(body, { key, headers });
  expect(reply.status).toBe(201);
  const state = STATES.indexOf(reply.body.data.status);
  return { sent, received: performance.now(), state, text: reply.text };
}

describe('a response that Prefer: wait gave', () => {
  test('is the response of every later repeat, byte for byte, with the header or without', async () => {
    const request = { url: service.api.url, key: 'waited-1', body: transferBody() };
    const waited = await repeat(request, 20);
    expect(waited.state).toBe(STATES.indexOf('completed'));
    for (const wait of [null, 0, 20, null]) {
      expect((await repeat(request, wait)).text).toBe(waited.text);
    }
  });

  test('is sealed in the database, because it may show what the record has only sealed', async () => {
    const request = { url: service.api.url, key: 'waited-2', body: transferBody() };
    const { text } = await repeat(request, 20);
    const { client, db } = service.deps.database;
    // The service's own view of the database opens what is sealed.
    const keys = client
      .db(db.databaseName)
      .collection<{ _id: string; body: string }>('idempotency_keys');
    const stored = await keys.findOne({ _id: `${tenant.id}/secret/waited-2` });
    expect(stored?.body).toMatch(/^[a-z0-9-]+\.[\w-]+$/);
    expect((await repeat(request, null)).text).toBe(text);
  });

  test('is never taken back: no repeat shows an earlier state than a response before it, from any process', async () => {
    for (const [round, suffix] of ['001', '789', '009'].entries()) {
      const key = `waited-${round}-${suffix}`;
      const body = transferBody(suffix);
      const client = async (index: number): Promise<Seen[]> => {
        const url = service.apis[index % service.apis.length]?.url ?? service.api.url;
        const seen: Seen[] = [];
        while (seen.at(-1)?.state !== STATES.indexOf('completed')) {
          // Some of the clients wait, some do not; each of them asks until it has seen the end.
          const wait = (seen.length + index) % 3 === 0 ? null : (seen.length + index) % 2;
          seen.push(await repeat({ url, key, body }, wait));
        }
        return seen;
      };
      const all = (await Promise.all([0, 1, 2, 3, 4, 5].map(client))).flat();
      for (const one of all) {
        const later = all.filter(({ sent }) => sent > one.received);
        expect(later.filter(({ state }) => state < one.state)).toEqual([]);
      }
    }
  });
});
