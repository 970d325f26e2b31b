import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { MongoNetworkError } from 'mongodb';
import { withIdempotency } from '../../../src/core/idempotency/with-idempotency.js';
import type { Idempotency } from '../../../src/core/idempotency/store.js';
import type { AuthenticatedKey } from '../../../src/platform/api-keys/authentication.js';
import type { AppState } from '../../../src/platform/http/context.js';

const ACCEPTED = { status: 201, body: '{"success":true,"data":{"id":"trf_1","status":"pending"}}' };
const away = async (): Promise<never> => {
  throw new MongoNetworkError('connection 5 closed');
};

let server: Server | undefined;
afterEach(() => server?.close());

/** Answers every POST with an accepted record. Then the database is away. */
async function start(): Promise<string> {
  const app = new Koa<AppState>();
  const idempotency = { findResponse: async () => null, replace: away } as unknown as Idempotency;
  app.use(async (ctx) => {
    ctx.state.key = { tenant: { id: 'ten_1' }, kind: 'secret' } as AuthenticatedKey;
    const execute = async () => ({ answer: ACCEPTED, resource: 'trf_1', replayed: false });
    const present =
      ctx.path === '/presented' ? async () => ({ id: 'trf_1', status: 'completed' }) : away;
    await withIdempotency(ctx, { idempotency, resource: '/transfers' }, execute, present);
  });
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each<[string, string, Record<string, string>]>([
  ['its present state cannot be read', '/', {}],
  ['its present state cannot be read', '/', { 'idempotency-key': 'one' }],
  ['its present state cannot be saved under the key', '/presented', { 'idempotency-key': 'one' }],
])(
  'a client that waits for the end of an accepted record gets the answer of the acceptance if %s',
  async (_why, path, headers) => {
    const url = await start();
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { prefer: 'wait=1', ...headers },
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe('/transfers/trf_1');
    expect(await response.text()).toBe(ACCEPTED.body);
  },
);
