/** The clients of POST /transfers, in a process of their own, so their cost is not charged to a measured process. */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { serveParent } from './child.js';
import { closedLoop, type Loop } from './support.js';
import { transferBody } from './transfers.js';

/** The load that this process produces. The clients are spread evenly over the addresses. */
export type LoadQuestion = { urls: readonly string[]; key: string; clients: number; forMs: number };

const pools = new Map<string, Pool>();
let count = 0;

function poolOf(url: string, connections: number): Pool {
  const pool = pools.get(url) ?? new Pool(url, { connections, pipelining: 1 });
  pools.set(url, pool);
  return pool;
}

function load({ urls, key, clients, forMs }: LoadQuestion): Promise<Loop> {
  const pools = urls.map((url) => poolOf(url, clients));
  return closedLoop({
    clients,
    forMs,
    async act(client) {
      count += 1;
      const { statusCode, body } = await (pools[client % pools.length] as Pool).request({
        method: 'POST',
        path: '/api/v1/transfers',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        },
        body: JSON.stringify(transferBody(count)),
      });
      const text = await body.text();
      if (statusCode !== 201) throw new Error(`the API answered ${statusCode}: ${text}`);
    },
  });
}

serveParent((question) => load(question as LoadQuestion));
