import { z } from 'zod';
import type { AuditEntry } from '../../core/audit/entry.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { plainText } from '../../platform/http/wire.js';
import type { OperatorDeps } from './deps.js';
import { READERS } from './roles.js';
import { LISTED, printedList } from './schema.js';

const tag = 'Audit log';
/** Entries of one page of an export. */
export const EXPORTED = 1_000;

/** Lists the latest entries of the audit log. */
export const listAudit = operation({
  id: 'listAudit',
  tag,
  method: 'get',
  path: '/audit',
  summary: `List the latest ${LISTED} acts, newest first`,
  roles: READERS,
  query: z.strictObject({
    target: plainText(300).optional(),
    operator: plainText(100).optional(),
    action: plainText(100).optional(),
  }),
  answer: { status: 200, data: printedList },
});

/** Reads one page of the audit log for an export. */
export const exportAudit = operation({
  id: 'exportAudit',
  tag,
  method: 'get',
  path: '/audit/export',
  summary: `Read ${EXPORTED} entries after a number, oldest first, with their hashes`,
  roles: READERS,
  query: z.strictObject({
    after: z
      .string()
      .regex(/^[0-9]{1,15}$/)
      .default('0')
      .transform(Number),
  }),
  answer: { status: 200, data: printedList },
});

/** Follows the chain of the audit log. */
export const verifyAudit = operation({
  id: 'verifyAudit',
  tag,
  method: 'post',
  path: '/audit/verify',
  summary: 'Follow the chain: every changed, removed or reordered entry is found',
  roles: READERS,
  answer: {
    status: 200,
    data: z.object({
      ok: z.boolean(),
      entries: z.int(),
      last_hash: z.string(),
      problems: z.array(z.object({ sequence: z.int(), problem: z.string() })),
    }),
  },
});

/** The routes for the audit log. */
export const auditRoutes = ({ audit }: OperatorDeps): Route[] => [
  route(listAudit, async (ctx, { query: { target, operator, action } }) => {
    const selection = {
      ...(target !== undefined && { target }),
      ...(operator !== undefined && { operator }),
      ...(action !== undefined && { action }),
    };
    sendData(ctx, 200, (await audit.latest(selection, LISTED)).map(presentRow));
  }),

  route(exportAudit, async (ctx, { query }) => {
    sendData(ctx, 200, (await audit.after(query.after, EXPORTED)).map(presentEntry));
  }),

  route(verifyAudit, async (ctx) => {
    const { end, problems } = await audit.verify();
    const ok = problems.length === 0;
    sendData(ctx, 200, { ok, entries: end.sequence, last_hash: end.hash, problems });
  }),
];

const presentEntry = ({ _id: sequence, at, ...entry }: AuditEntry) => ({
  sequence,
  at: at.toISOString(),
  ...entry,
});

const presentRow = (entry: AuditEntry) => ({
  sequence: entry._id,
  at: entry.at.toISOString(),
  operator: entry.actor.operator,
  name: entry.actor.claim ? `says to be ${entry.actor.name}` : entry.actor.name,
  roles: entry.actor.roles.join(','),
  action: entry.action,
  target: entry.target,
  before: entry.before,
  after: entry.after,
  reason: entry.reason,
  request_id: entry.request_id,
  approval: entry.approval,
});
