import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import { failpoint } from '../../shared/failpoints.js';
import type { Log } from '../../shared/log.js';
import {
  describeAttempt,
  isStale,
  mutationNamed,
  type Announced,
  type ForwardedMutation,
} from './forwarding.js';
import type { GroupCommit } from './group-commit.js';
import type { CommitAttempt, MutationsByName } from './mutation.js';
import type { CommitProcesses } from './processes.js';

const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** A batch from each of many processes, several at once. */
const MAX_CONNECTIONS = 1_000;

type Served = {
  host: string | undefined;
  port: number;
  groupCommit: Pick<GroupCommit, 'commitHere'>;
  /** Told of the wallets that another process has announced. */
  forwarding: Announced;
  mutations: MutationsByName;
  processes: CommitProcesses;
  log: Log;
  /** Told of the size of each batch that another process has sent. It must not fail. */
  onServed?: (mutations: number) => void;
};

/**
 * Commits the mutations that other processes forward, on a listener that only they reach. Without a host this process
 * commits for no other. `close` leaves the list of processes before the listener ends.
 */
export async function serveForwarding({
  host,
  port,
  groupCommit,
  forwarding,
  mutations,
  processes,
  log,
  onServed,
}: Served): Promise<{ close(): Promise<void> }> {
  if (host === undefined) return { close: async () => undefined };
  let token = '';

  /** `hasLeft`: the sender has closed its connection, and commits the batch itself. */
  async function commitAll(batch: readonly ForwardedMutation[], hasLeft: () => boolean) {
    const attempts = batch.map(
      async ({ name, input, isRepeat, sentAt }): Promise<CommitAttempt> => {
        const mutation = mutationNamed(mutations, name);
        const isTooLate = () => hasLeft() || isStale({ sentAt });
        const planned = { mutation, input, isRepeat, isForwarded: true, isTooLate };
        return groupCommit.commitHere(planned).catch((error: unknown) => ({ error }));
      },
    );
    return (await Promise.all(attempts)).map(describeAttempt);
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const isKnown = req.url === '/commits' || req.url === '/contended';
    if (req.method !== 'POST' || !isKnown) return void res.writeHead(404).end();
    if (!isAuthorized(req.headers.authorization, token)) return void res.writeHead(401).end();
    const body = await readBody(req);
    if (body === null) return void res.writeHead(413).end();
    if (req.url === '/contended') {
      forwarding.noteContended(deserialize(body) as string[]);
      return void res.writeHead(204).end();
    }
    failpoint('forward.received');
    const batch = deserialize(body) as ForwardedMutation[];
    const results = await commitAll(batch, () => res.destroyed);
    onServed?.(batch.length);
    failpoint('forward.committed');
    res.writeHead(200, { 'content-type': 'application/octet-stream' }).end(serialize(results));
  }

  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => {
      log.error({ err: error }, 'could not commit forwarded mutations');
      // A closed connection says "unknown": some of them may be committed.
      res.destroy();
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  token = await processes.join(`http://${isIPv6(host) ? `[${host}]` : host}:${bound}`);
  log.info({ host, port: bound }, 'committing for other processes');
  return {
    async close() {
      await processes.leave();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
    },
  };
}

function isAuthorized(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return token !== '' && given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The body, or null if it is too large. */
async function readBody(req: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
