/**
 * The obvious first version: insert, call the provider, update. A unique index prevents two requests from paying one
 * reference twice, writes are on disk on a majority before an answer, and a bank that does not answer is not treated
 * as a refusal. Nothing resumes an interrupted transfer.
 */
import { createServer } from 'node:http';
import Koa from 'koa';
import { MongoClient, MongoServerError } from 'mongodb';
import rawBody from 'raw-body';
import { loadConfig } from '../../../src/shared/config.js';
import { armFailpoint, failpoint } from '../../../src/shared/failpoints.js';
import { createPeerBank, peerTransferBody, type PeerTransferBody } from '../call-bank.js';

type Transfer = PeerTransferBody & {
  status: 'pending' | 'completed' | 'failed';
  created_at: Date;
};

const DUPLICATE_KEY = 11_000;
const MAX_BODY_BYTES = 100_000;

const config = loadConfig();
armFailpoint(config.failpoint);
const bank = createPeerBank(config);
const client = new MongoClient(config.mongodb.uri, {
  writeConcern: { w: 'majority', journal: true },
});
const transfers = client.db('naive').collection<Transfer>('transfers');
await transfers.createIndex({ reference: 1 }, { unique: true });

const app = new Koa();
app.use(async (ctx) => {
  if (ctx.get('authorization') !== `Bearer ${config.sandboxBank?.secret}`) ctx.throw(401);
  const [, route, reference] = ctx.path.split('/');
  if (route !== 'transfers') ctx.throw(404);
  if (ctx.method === 'POST') return create(ctx);
  const found = await transfers.findOne({ reference: reference ?? '' });
  if (!found) ctx.throw(404);
  ctx.body = found;
});

async function create(ctx: Koa.Context): Promise<void> {
  const text = await rawBody(ctx.req, { limit: MAX_BODY_BYTES, encoding: 'utf8' });
  const parsed = peerTransferBody.safeParse(JSON.parse(text));
  if (!parsed.success) return ctx.throw(400);
  const request = parsed.data;
  try {
    await transfers.insertOne({ ...request, status: 'pending', created_at: new Date() });
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== DUPLICATE_KEY) throw error;
    // A repeated request gets the transfer's current state.
    ctx.body = await transfers.findOne({ reference: request.reference });
    return;
  }
  failpoint('submit.permitted');
  const answer = await bank.submit(request);
  failpoint('submit.answered');
  if (answer !== 'succeeded' && answer !== 'rejected') return ctx.throw(504);
  const status = answer === 'succeeded' ? 'completed' : 'failed';
  await transfers.updateOne({ reference: request.reference }, { $set: { status } });
  ctx.status = 201;
  ctx.body = { ...request, status };
}

const handle = app.callback();
const server = createServer((req, res) => void handle(req, res));
server.listen(config.http.port, '127.0.0.1');
process.once('SIGTERM', () => {
  server.close(() => void client.close());
  server.closeIdleConnections();
});
