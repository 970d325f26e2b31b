import { acceptedIds, type BatchView } from '../../support/bulk.js';
import { transferBody } from '../../support/tenant.js';
import { API_POINTS, casesOf, PAID, type Capability, type Case } from './capability.js';
import type { Cluster } from './cluster.js';
import { isRight, PATH } from './transfers.js';

/** More than one chunk, so that the bulk transfer's workflow has two activities. */
const ITEMS = 30;

type Body = ReturnType<typeof transferBody>;

/**
 * A bulk transfer of which the API dies while it accepts it. A repeat under its key gets the same one, whose transfers are each
 * paid once. `others`: further items, which are refused with the error `code`.
 */
const bulkTransfer = (
  name: string,
  others: (cluster: Cluster) => Promise<Body[]>,
  codes: readonly string[],
): Capability => ({
  name,
  outcomes: [PAID],
  async newRequest(cluster, { suffix }) {
    const items = Array.from({ length: ITEMS }, () => transferBody(suffix));
    return { path: `${PATH}/bulk`, body: { transfers: [...items, ...(await others(cluster))] } };
  },
  async isRight(cluster, data, outcome) {
    const batch = data as unknown as BatchView;
    const ids = acceptedIds(batch);
    expect(ids).toHaveLength(ITEMS);
    const errors = batch.items.flatMap((item) => ('error' in item && item.error) || []);
    expect(errors.map(({ code }) => code)).toEqual(codes);
    const { db } = cluster.service.deps.database;
    const filter = { tenant_id: cluster.tenant.id, 'items.reference': batch.items[0]?.reference };
    expect(await db.collection('bulk_transfers').countDocuments(filter)).toBe(1);
    for (const id of ids) await isRight(cluster, id, outcome);
  },
  points: { api: API_POINTS, worker: [], unanswered: [], dispatcher: [] },
});

/** A body with the reference of a transfer that has ended. */
async function inUse(cluster: Cluster): Promise<Body> {
  const body = transferBody(PAID.suffix);
  const { body: sent } = await cluster.post({ path: PATH, body, key: body.reference });
  await isRight(cluster, sent.data.id, PAID);
  return transferBody(PAID.suffix, { reference: body.reference });
}

/** Without an expected refusal, the acceptance reads neither key nor references at first. */
export const bulkTransfers: Case[] = [
  bulkTransfer('a bulk transfer', async () => [], []),
  bulkTransfer(
    'a bulk transfer with a reference in use',
    async (cluster) => [await inUse(cluster)],
    ['duplicate_reference'],
  ),
].flatMap(casesOf);
