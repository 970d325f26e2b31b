/**
 * The lower bound of GET /transfers/{id}: a bare Koa with the same query by the same driver and the same response
 * bytes; and the same behind the rate limiter. It runs in a process of its own, like the API.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { connectDatabase } from '../src/platform/database/client.js';
import { createLog } from '../src/shared/log.js';
import { createRateLimits } from '../src/platform/rate-limits/store.js';
import { presentTransfer } from '../src/capabilities/transfers/presenter.js';
import type { Transfer } from '../src/capabilities/transfers/record.js';
import { serveParent } from './child.js';

/** The settings that this process receives. */
export type BareQuestion = { uri: string; database: string; tenant: string };
/** The address that this process answers. */
export type BareAnswer = { url: string };

/** Far above the load of a bench. */
const ALLOWANCE = { rate: 1_000_000_000, burst: 1_500_000_000 };

async function serve({ uri, database, tenant }: BareQuestion): Promise<BareAnswer> {
  const { db } = await connectDatabase({ uri, database }, 'bursar-bare');
  const transfers = db.collection<Transfer>('transfers');
  const rateLimits = createRateLimits({ db, log: createLog({ level: 'silent', name: 'bare' }) });
  const app = new Koa();
  app.use(async (ctx) => {
    const [, mode, id = ''] = ctx.path.split('/');
    if (mode === 'limited') await rateLimits.take('bench', ALLOWANCE);
    const transfer = await transfers.findOne({ _id: id, tenant_id: tenant });
    ctx.type = 'json';
    ctx.body = JSON.stringify({ success: true, data: transfer && presentTransfer(transfer) });
  });
  const handle = app.callback();
  const server = createServer((req, res) => void handle(req, res));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

serveParent((question) => serve(question as BareQuestion));
