import { Client, Connection } from '@temporalio/client';

/** Calls that a client waits for end within this; the promise is in MongoDB by then and the dispatcher keeps it. */
export const TEMPORAL_DEADLINE_MS = 5_000;

export type Temporal = { client: Client; close(): Promise<void> };

/** Connects when it is first used: the service takes requests while Temporal is away. */
export function createTemporal(config: { address: string; namespace: string }): Temporal {
  const connection = Connection.lazy({
    address: config.address,
    connectTimeout: TEMPORAL_DEADLINE_MS,
  });
  const client = new Client({ connection, namespace: config.namespace });
  return { client, close: () => connection.close() };
}
