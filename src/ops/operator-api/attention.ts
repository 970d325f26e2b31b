import { z } from 'zod';
import type { Document } from 'mongodb';
import { collectionsWith } from '../../composition/capabilities.js';
import { attentionIndex } from '../../platform/database/indexes.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { READERS } from './roles.js';
import { LISTED } from './schema.js';

/** Lists the records of all kinds that wait for an operator. */
export const listAttention = operation({
  id: 'listAttention',
  tag: 'Attention',
  method: 'get',
  path: '/attention',
  summary: `List records of all kinds that need an operator, the longest waiting ${LISTED}`,
  roles: READERS,
  answer: {
    status: 200,
    data: z.array(
      z.object({
        collection: z.string(),
        id: z.string(),
        tenant: z.string().nullable(),
        amount_minor: z.int().nullable(),
        reason: z.string(),
        since: z.iso.datetime(),
      }),
    ),
  },
});

/** Collections whose records may wait for an operator. */
const COLLECTIONS = collectionsWith(attentionIndex);

/** The route of the list of all attention. */
export const attentionRoutes = ({ reports }: OperatorDeps): Route[] => [
  route(listAttention, async (ctx) => {
    const found = await Promise.all(COLLECTIONS.map((name) => waitingIn(reports.db, name)));
    const rows = found.flat().toSorted((a, b) => (a.since < b.since ? -1 : 1));
    sendData(ctx, 200, rows.slice(0, LISTED));
  }),
];

async function waitingIn(db: OperatorDeps['reports']['db'], name: string) {
  const found = await db
    .collection<Document & { _id: string }>(name)
    .find(
      { 'attention.since': { $type: 'date' } },
      { projection: { tenant_id: 1, amount_minor: 1, attention: 1 }, ...acrossTenants('report') },
    )
    .sort({ 'attention.since': 1 })
    .limit(LISTED)
    .toArray();
  return found.map(({ _id: id, tenant_id: tenant, amount_minor: amount, attention }) => ({
    collection: name,
    id,
    tenant: typeof tenant === 'string' ? tenant : null,
    amount_minor: typeof amount === 'bigint' ? toWireAmount(amount) : null,
    reason: String(attention.reason),
    since: (attention.since as Date).toISOString(),
  }));
}
