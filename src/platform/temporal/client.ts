import {
  Client,
  Connection,
  type ConnectionLike,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

/**
 * Bound on Temporal calls while a client waits. The record is in MongoDB by then, so the dispatcher starts its workflow
 * if the call fails.
 */
export const TEMPORAL_DEADLINE_MS = 5_000;

/** A client of Temporal with its connection. */
export type Temporal = {
  client: Client;
  /** True if workflows that this client starts may begin in the worker of this process at once. */
  startsEagerly: boolean;
  close(): Promise<void>;
};

/**
 * Creates a client that connects on first use, so that the service accepts requests while Temporal is away. With `shared`, the
 * connection of a worker in this process, the client uses that one and leaves it open.
 */
export function createTemporal(
  config: { connection: ConnectionOptions; namespace: string },
  shared?: ConnectionLike,
): Temporal {
  const { namespace } = config;
  if (shared) {
    const client = new Client({ connection: shared, namespace });
    return { client, startsEagerly: true, close: () => Promise.resolve() };
  }
  const { connection, close } = createConnection(config.connection, TEMPORAL_DEADLINE_MS);
  const client = new Client({ connection, namespace });
  return { client, startsEagerly: false, close };
}

/**
 * Creates a connection that connects on first use and retries failed calls. Close it by `close` alone: after that, no retry ends
 * the process.
 */
export function createConnection(options: ConnectionOptions, connectTimeoutMs: number) {
  const retries = createRetries();
  const connection = Connection.lazy({
    ...options,
    connectTimeout: connectTimeoutMs,
    interceptors: [retries.interceptor],
  });
  const close = async () => {
    await retries.end();
    await connection.close();
  };
  return { connection, close };
}

/**
 * The default retries of the client, which can be ended. A retry on a closed connection throws in its timer, where no caller
 * catches it, so the connection stays open until the pauses in progress are over: at most 6 seconds.
 */
function createRetries() {
  const { retryableDecider, delayFunction } = defaultGrpcRetryOptions();
  const pauses = new Set<Promise<void>>();
  let ended = false;
  const track = (ms: number) => {
    const pause = new Promise<void>((resolve) => setTimeout(resolve, ms));
    pauses.add(pause);
    void pause.then(() => pauses.delete(pause));
  };
  const interceptor = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !ended && retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      const ms = delayFunction(attempt, status);
      // This timer is set after that of the retry and is as long, so it fires after it.
      queueMicrotask(() => track(ms));
      return ms;
    },
  });
  const end = async () => {
    ended = true;
    await Promise.all(pauses);
  };
  return { interceptor, end };
}
