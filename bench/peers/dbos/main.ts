/** A service on DBOS and PostgreSQL: POST starts a workflow of one step that calls the bank, and answers at its end. */
import { createServer } from 'node:http';
import Koa from 'koa';
import rawBody from 'raw-body';
import { loadConfig } from '../../../src/shared/config.js';
import { createPeerBank, peerTransferBody, type PeerTransferBody } from '../call-bank.js';
import { requirePeer } from '../packages.js';

/** The part of the package that this file uses. The bench installs it on demand, so its types are not at hand. */
type Dbos = {
  setConfig(config: { name: string; systemDatabaseUrl: string; logLevel: string }): void;
  launch(): Promise<void>;
  shutdown(): Promise<void>;
  registerWorkflow<Input, Output>(
    run: (input: Input) => Promise<Output>,
    settings: { name: string },
  ): (input: Input) => Promise<Output>;
  runStep<Output>(run: () => Promise<Output>, settings: object): Promise<Output>;
  startWorkflow<Input, Output>(
    workflow: (input: Input) => Promise<Output>,
    settings: { workflowID: string },
  ): (input: Input) => Promise<{ getResult(): Promise<Output> }>;
};

const MAX_BODY_BYTES = 100_000;

const config = loadConfig();
const bank = createPeerBank(config);
const { DBOS } = requirePeer('@dbos-inc/dbos-sdk') as { DBOS: Dbos };

const transfer = DBOS.registerWorkflow(
  (request: PeerTransferBody) =>
    DBOS.runStep(() => bank.submitOrThrow(request), {
      name: 'submit',
      retriesAllowed: true,
      maxAttempts: 5,
    }),
  { name: 'transfer' },
);

DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: process.env['BENCH_POSTGRES_URL'] ?? '',
  logLevel: 'error',
});
await DBOS.launch();

const app = new Koa();
app.use(async (ctx) => {
  if (ctx.get('authorization') !== `Bearer ${config.sandboxBank?.secret}`) ctx.throw(401);
  const text = await rawBody(ctx.req, { limit: MAX_BODY_BYTES, encoding: 'utf8' });
  const request = peerTransferBody.parse(JSON.parse(text));
  const handle = await DBOS.startWorkflow(transfer, { workflowID: request.reference })(request);
  await handle.getResult();
  ctx.status = 201;
  ctx.body = { ...request, status: 'completed' };
});

const handle = app.callback();
const server = createServer((req, res) => void handle(req, res));
server.listen(config.http.port, '127.0.0.1');
process.once('SIGTERM', () => {
  server.close(() => void DBOS.shutdown().then(() => process.exit(0)));
  server.closeIdleConnections();
});
