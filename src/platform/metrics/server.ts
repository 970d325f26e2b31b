import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import type { Log } from '../../shared/log.js';
import { openMetricsOf } from './open-metrics.js';

/** The server of the metrics; `close` also ends open connections. */
type MetricsServer = { close(): Promise<void> };

/** Only monitoring systems of the operator connect. */
const MAX_CONNECTIONS = 50;

/**
 * Serves `GET /metrics` on a port of its own, which callers of the API cannot reach. Without a port metrics are off.
 */
export async function serveMetrics(
  registry: Registry,
  { host, port, log }: { host: string; port: number | undefined; log: Log },
): Promise<MetricsServer> {
  if (port === undefined) return { close: async () => undefined };
  collectDefaultMetrics({ register: registry });
  const server = createServer((req, res) => void answer(registry, req, res, log));
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  log.info({ host, port }, 'serving metrics');
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  registry: Registry,
  req: IncomingMessage,
  res: ServerResponse,
  log: Log,
): Promise<void> {
  const [path] = (req.url ?? '').split('?');
  if (path !== '/metrics' || req.method !== 'GET') return void res.writeHead(404).end();
  try {
    // Only OpenMetrics has exemplars. Prometheus asks for it; everything else gets the older format.
    const isOpen = (req.headers.accept ?? '').includes('application/openmetrics-text');
    const asked = isOpen ? openMetricsOf(registry) : registry;
    const text = await asked.metrics();
    res.writeHead(200, { 'Content-Type': asked.contentType }).end(text);
  } catch (error) {
    log.error({ err: error }, 'could not collect metrics');
    res.writeHead(500).end();
  }
}
