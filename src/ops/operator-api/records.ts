import type { Document } from 'mongodb';
import { z } from 'zod';
import { capabilities } from '../../composition/capabilities.js';
import type { PostingDocument } from '../../core/ledger/collections.js';
import { acrossTenants } from '../../platform/database/tenant-filters.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import { firstIdAt, idSchema, timeOf, type IdKind } from '../../shared/ids.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { READERS } from './roles.js';
import { anyId, LISTED, refuseField, tenantId } from './schema.js';

const tag = 'Records';

/** Finds records of all kinds. */
export const findRecords = operation({
  id: 'findRecords',
  tag,
  method: 'get',
  path: '/records',
  summary:
    'Find records of all kinds by the reference of their tenant, or by the request that created them',
  description:
    'References are unique for a tenant: without `tenant`, the records of all tenants that have this reference are found. A request ' +
    'is found by an id that Bursar gave it (`req_…`, in `X-Request-Id` of its answer): such an id has its time.',
  roles: READERS,
  query: z.strictObject({
    reference: plainText(200).optional(),
    tenant: tenantId.optional(),
    request: idSchema('request').optional(),
  }),
  answer: {
    status: 200,
    data: z.array(
      z.object({
        collection: z.string(),
        id: z.string(),
        tenant: z.string(),
        reference: z.string().nullable(),
        status: z.string().nullable(),
        amount_minor: z.int().nullable(),
        created_at: z.iso.datetime().nullable(),
      }),
    ),
  },
});

/** Lists the postings of a record. */
export const listPostings = operation({
  id: 'listPostings',
  tag,
  method: 'get',
  path: '/records/{id}/postings',
  summary: `List the postings of a record, the first ${LISTED}; those of archived days are in files`,
  roles: READERS,
  params: { id: anyId },
  query: z.strictObject({ tenant: tenantId }),
  answer: {
    status: 200,
    data: z.array(
      z.object({
        id: z.string(),
        at: z.iso.datetime(),
        legs: z.array(z.object({ account: z.string(), amount_minor: z.int() })),
      }),
    ),
  },
});

/** Collections with an index by tenant and reference. */
const WITH_REFERENCE = capabilities
  .flatMap(({ collections = [] }) => collections)
  .filter(({ indexes }) =>
    indexes.some(({ key }) => Object.keys(key).join() === 'tenant_id,reference'),
  )
  .map(({ name }) => name);

/** The records that requests create, by their collections: their ids have the time at which they were made. */
const BY_REQUESTS: Readonly<Record<string, IdKind>> = {
  transfers: 'transfer',
  bulk_transfers: 'bulkTransfer',
  cards: 'card',
  card_operations: 'cardOperation',
  card_disputes: 'cardDispute',
  charges: 'charge',
  refunds: 'refund',
  payment_tokens: 'paymentToken',
  recurring_charges: 'recurringCharge',
  virtual_accounts: 'virtualAccount',
  identity_checks: 'identityCheck',
  bill_payments: 'billPayment',
};

/** The id of a record is made after that of its request, by the same process, and within this time. */
const MADE_WITHIN_MS = 30_000;

/** The routes that find records, and show what every kind of them has. */
export const recordRoutes = ({ reports: { db }, tenants }: OperatorDeps): Route[] => {
  const find = async (name: string, filter: Document) => {
    const found = await db
      .collection<Document & { _id: string }>(name)
      .find(filter, { projection: SHOWN, ...acrossTenants('report') })
      .limit(LISTED)
      .toArray();
    return found.map((record) => presentFound(name, record));
  };

  return [
    route(findRecords, async (ctx, { query: { reference, tenant, request } }) => {
      if ((reference === undefined) === (request === undefined)) {
        throw refuseField('reference', 'Name either a reference or a request.');
      }
      if (request !== undefined) {
        const searches = Object.entries(BY_REQUESTS).map(([name, kind]) =>
          find(name, createdBy(request, kind)),
        );
        return sendData(ctx, 200, (await Promise.all(searches)).flat().slice(0, LISTED));
      }
      const named = tenant === undefined ? (await tenants.list()).map(({ id }) => id) : [tenant];
      const filter = { tenant_id: { $in: named }, reference };
      const found = await Promise.all(WITH_REFERENCE.map((name) => find(name, filter)));
      sendData(ctx, 200, found.flat().slice(0, LISTED));
    }),

    route(listPostings, async (ctx, { params: { id }, query: { tenant } }) => {
      // The id of a posting is that of its record, a slash, and the step; "0" follows the slash.
      const steps = { $gte: `${id}/`, $lt: `${id}0` };
      const found = await db
        .collection<PostingDocument>('postings')
        .find({ _id: steps, tenant_id: tenant }, { hint: { _id: 1 } })
        .limit(LISTED)
        .toArray();
      sendData(
        ctx,
        200,
        found.toSorted((a, b) => a.at.getTime() - b.at.getTime()).map(presentPosting),
      );
    }),
  ];
};

const SHOWN = { tenant_id: 1, reference: 1, status: 1, amount_minor: 1, created_at: 1 };

/** The condition of the records of a kind that a request has created: a range of ids, so that no index by request is needed. */
function createdBy(request: string, kind: IdKind): Document {
  const at = timeOf(request);
  const end = new Date(at.getTime() + MADE_WITHIN_MS);
  return {
    _id: { $gte: firstIdAt(kind, at), $lt: firstIdAt(kind, end) },
    http_request_id: request,
  };
}

const presentFound = (collection: string, record: Document & { _id: string }) => ({
  collection,
  id: record._id,
  tenant: String(record['tenant_id']),
  reference: textOrNull(record['reference']),
  status: textOrNull(record['status']),
  amount_minor:
    typeof record['amount_minor'] === 'bigint' ? toWireAmount(record['amount_minor']) : null,
  created_at: record['created_at'] instanceof Date ? record['created_at'].toISOString() : null,
});

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);

const presentPosting = ({ _id: id, at, legs }: PostingDocument) => ({
  id,
  at: at.toISOString(),
  legs: legs.map(({ account, amount_minor: amount }) => ({
    account,
    amount_minor: toWireAmount(amount),
  })),
});
