import type { presentBulkTransfer } from '../../src/capabilities/bulk-transfers/presenter.js';
import { eventually } from './eventually.js';
import type { ApiClient, CallOptions, Reply } from './tenant.js';

/** A bulk transfer in an answer. */
export type BatchView = ReturnType<typeof presentBulkTransfer>;

/** An answer whose data is a bulk transfer. */
export type BatchReply = Omit<Reply, 'body'> & {
  body: Omit<Reply['body'], 'data'> & { data: BatchView };
};

/** A client of the routes of bulk transfers at one API process. */
export function bulkClient(client: ApiClient) {
  const call = async (method: string, path: string, body?: unknown, options?: CallOptions) =>
    (await client.call(
      method,
      path,
      body === undefined ? undefined : JSON.stringify(body),
      options,
    )) as unknown as BatchReply;
  const get = (id: string) => call('GET', `/transfers/bulk/${id}`);
  return {
    send: (transfers: unknown, options?: CallOptions) =>
      call('POST', '/transfers/bulk', { transfers }, options),
    get,
    /** Waits until no transfer of the bulk transfer is open, and returns it. */
    ended: (id: string) =>
      eventually(`${id} has ended`, async () => {
        const { data } = (await get(id)).body;
        return data.status === 'completed' ? data : undefined;
      }),
  };
}

/** The ids of the accepted items, in order. */
export const acceptedIds = (batch: BatchView): string[] =>
  batch.items.flatMap((item) => ('id' in item && item.id !== undefined ? [item.id] : []));
