import { connectDatabase } from '../../platform/database/client.js';
import { createHealth } from '../../platform/http/health.js';
import { createServer } from '../../platform/http/server.js';
import type { Deps } from '../../composition/deps.js';
import { examineService } from '../doctor/doctor.js';
import { measureDoctor } from '../doctor/metrics.js';
import { createOperatorApp } from './app.js';

/** The running operator API; null without a port. */
export type OperatorServer = { port: number; close(): Promise<void> };

/** Serves the operator API on a port of its own. Without a port it is off. */
export async function serveOperators(
  deps: Deps,
  { host, port }: { host: string; port: number | undefined },
): Promise<OperatorServer | null> {
  if (port === undefined) return null;
  const { log, config, database, registry } = deps;
  const reports = await connectDatabase(config.mongodb, 'bursar-operators', {
    operationLimitMs: 0,
    ...(database.wrap && { wrap: database.wrap }),
  });
  measureDoctor(registry, { examine: () => examineService(config, deps.providers), log });
  const checks = { mongodb: () => reports.db.command({ ping: 1 }) };
  const health = createHealth({ checks, log });
  const app = createOperatorApp({ ...deps, reports }, health);
  const server = createServer({ app, health, log });
  const address = await server.listen({ host, port });
  log.info(address, 'operator api is listening');
  return {
    port: address.port,
    async close() {
      await server.drain();
      await reports.client.close();
    },
  };
}
