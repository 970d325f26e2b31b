import { Client, Connection, type ConnectionOptions } from '@temporalio/client';

/**
 * Bound on Temporal calls while a client waits. The record is in MongoDB by then, so the dispatcher starts its workflow
 * if the call fails.
 */
export const TEMPORAL_DEADLINE_MS = 5_000;

/** A client of Temporal with its connection. */
export type Temporal = { client: Client; close(): Promise<void> };

/** Creates a client that connects on first use, so that the service accepts requests while Temporal is away. */
export function createTemporal(config: {
  connection: ConnectionOptions;
  namespace: string;
}): Temporal {
  const connection = Connection.lazy({
    ...config.connection,
    connectTimeout: TEMPORAL_DEADLINE_MS,
  });
  const client = new Client({ connection, namespace: config.namespace });
  return { client, close: () => connection.close() };
}
