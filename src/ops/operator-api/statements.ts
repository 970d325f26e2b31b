import { createHash } from 'node:crypto';
import { z } from 'zod';
import { matchingParts } from '../../composition/reconciliation.js';
import { matchStatement } from '../../core/reconciliation/matching.js';
import { createPace } from '../../core/reconciliation/comparison.js';
import {
  PULLED_AFTER_MS,
  type StatementRow,
  type StatementRun,
} from '../../core/reconciliation/statement.js';
import { operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { MAX_AMOUNT_MINOR, plainText } from '../../platform/http/wire.js';
import { HOUR_MS, DAY_MS } from '../../shared/durations.js';
import { ApiError } from '../../shared/errors.js';
import { toWireAmount } from '../../shared/money.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import { anyId, existing, LISTED, noSuch, printed, printedList, refuseField } from './schema.js';
import { actOf } from './sign-in.js';

const tag = 'Reconciliation';

/** Rows of one portion of a statement. */
export const ROWS_AT_ONCE = 1_000;
const MAX_PORTION_BYTES = 1024 * 1024;

/** A movement may be this far from its row: clocks differ, and a payment takes its time. */
const SLACK_MS = { times: HOUR_MS, days: DAY_MS + 2 * HOUR_MS };

const signedAmount = z.int().min(-MAX_AMOUNT_MINOR).max(MAX_AMOUNT_MINOR);

const rowSchema = z.strictObject({
  line: z.int().min(1).max(999_999_999),
  reference: plainText(100).nullable(),
  amount_minor: signedAmount,
  fee_minor: signedAmount.nullable(),
  balance_minor: signedAmount.nullable(),
  at: z.iso.datetime({ offset: true }),
  own: z.boolean(),
});

/** One row of a statement on its way to the operator API. Amounts in kobo; positive: into our balance. */
export type StatementRowInput = z.input<typeof rowSchema>;

/** Begins the import of a statement. */
export const beginStatement = operation({
  id: 'beginStatement',
  tag,
  method: 'post',
  path: '/statements',
  summary: 'Begin the import of a statement, or continue the one with the same contents',
  roles: WORKERS,
  body: z.strictObject({
    provider: plainText(100),
    name: plainText(200),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    order: z.enum(['oldest_first', 'newest_first']),
    has_times: z.boolean(),
    from: z.iso.datetime({ offset: true }).optional(),
    to: z.iso.datetime({ offset: true }).optional(),
  }),
  act: 'statements.import',
  answer: { status: 200, data: printed },
});

/** Reads a provider's own ledger as a statement. */
export const pullStatement = operation({
  id: 'pullStatement',
  tag,
  method: 'post',
  path: '/statements/pull',
  summary: 'Read the ledger of a provider as a statement; a repeat continues',
  roles: WORKERS,
  body: z.strictObject({
    provider: plainText(100),
    from: z.iso.datetime({ offset: true }),
    to: z.iso.datetime({ offset: true }),
    per_second: z.number().positive().max(10_000),
  }),
  act: 'statements.pull',
  answer: { status: 200, data: printed },
});

/** Adds rows to a statement. */
export const addStatementRows = operation({
  id: 'addStatementRows',
  tag,
  method: 'post',
  path: '/statements/{id}/rows',
  summary: `Add the next rows of a statement, at most ${ROWS_AT_ONCE}; those that are there are left out`,
  roles: WORKERS,
  params: { id: anyId },
  body: z.strictObject({
    rows: z.array(rowSchema).max(ROWS_AT_ONCE),
    /** True if no row follows. */
    last: z.boolean().default(false),
  }),
  maxBodyBytes: MAX_PORTION_BYTES,
  act: 'statements.rows',
  answer: { status: 200, data: printed },
});

/** Compares a statement with the ledger. */
export const compareStatement = operation({
  id: 'matchStatement',
  tag,
  method: 'post',
  path: '/statements/{id}/match',
  summary: 'Compare a statement with the ledger: keep the breaks, and return the verdicts',
  roles: WORKERS,
  params: { id: anyId },
  act: 'statements.match',
  answer: { status: 200, data: printed },
});

/** Lists statements. */
export const listStatements = operation({
  id: 'listStatements',
  tag,
  method: 'get',
  path: '/statements',
  summary: `List the latest ${LISTED} statements with their verdicts`,
  roles: READERS,
  answer: { status: 200, data: printedList },
});

/** Shows a statement. */
export const getStatement = operation({
  id: 'getStatement',
  tag,
  method: 'get',
  path: '/statements/{id}',
  summary: 'Show a statement with its verdicts',
  roles: READERS,
  params: { id: anyId },
  answer: { status: 200, data: printed },
});

/** The routes for statements. Nothing here moves money. */
export const statementRoutes = (deps: OperatorDeps): Route[] => {
  const { statements, audit } = deps;
  return [
    route(beginStatement, async (ctx, { body }) => {
      const { provider, name, sha256, order, from, to } = body;
      await audit.record(actOf(ctx, 'statements.import', `${provider}/${sha256.slice(0, 16)}`));
      const run = await statements.begin({
        provider,
        name,
        digest: sha256,
        order,
        from: from === undefined ? null : new Date(from),
        to: to === undefined ? null : new Date(to),
        slackMs: body.has_times ? SLACK_MS.times : SLACK_MS.days,
      });
      sendData(ctx, 200, presentStatement(run));
    }),

    route(pullStatement, async (ctx, { body: { provider: name, from, to, per_second } }) => {
      const provider = deps.providers.find(name);
      if (!provider) throw noSuch('provider');
      refuseOpenPeriod(new Date(from), new Date(to));
      await audit.record(actOf(ctx, 'statements.pull', name), { after: { from, to } });
      const window = { from: new Date(from), to: new Date(to), takeTurn: createPace(per_second) };
      sendData(ctx, 200, presentStatement(await statements.pull(provider, window)));
    }),

    route(addStatementRows, async (ctx, { params: { id }, body: { rows, last } }) => {
      if (!(await statements.find(id))) throw noSuch('statement');
      // The digest of the import is of the file: only this one shows which rows were sent.
      const sha256 = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
      const [first = null, final = null] = [rows[0]?.line, rows.at(-1)?.line];
      const after = { first_line: first, last_line: final, is_last: last, sha256 };
      await audit.record(actOf(ctx, 'statements.rows', id), { after });
      const run = await statements.add(id, rows.map(rowOf), { isLast: last });
      sendData(ctx, 200, presentStatement(run));
    }),

    route(compareStatement, async (ctx, { params: { id } }) => {
      const run = await existing(statements.find(id), 'statement');
      if (!run.has_last_row) throw new ApiError('invalid_state', { message: INCOMPLETE });
      await audit.record(actOf(ctx, 'statements.match', id));
      // Operators wait for long reads: this connection has no operation limit.
      await matchStatement(await matchingParts({ ...deps, database: deps.reports }), run);
      sendData(ctx, 200, presentStatement((await statements.find(id)) ?? run));
    }),

    route(listStatements, async (ctx) => {
      sendData(ctx, 200, (await statements.latest(LISTED)).map(presentRow));
    }),

    route(getStatement, async (ctx, { params: { id } }) => {
      const run = await existing(statements.find(id), 'statement');
      sendData(ctx, 200, presentStatement(run));
    }),
  ];
};

const INCOMPLETE =
  'The last rows of this statement are missing: repeat its import or its pull, which continues.';

/** Refuses a period of which the provider's list may still change. */
function refuseOpenPeriod(from: Date, to: Date): void {
  if (to <= from) throw refuseField('to', 'The end of the period is after its beginning.');
  if (to.getTime() > Date.now() - PULLED_AFTER_MS) {
    throw refuseField('to', 'The period ended at least an hour ago.');
  }
}

/** A row as the core takes it. */
export const rowOf = (row: z.output<typeof rowSchema>): StatementRow => ({
  line: row.line,
  reference: row.reference,
  amountMinor: BigInt(row.amount_minor),
  feeMinor: row.fee_minor === null ? null : BigInt(row.fee_minor),
  balanceMinor: row.balance_minor === null ? null : BigInt(row.balance_minor),
  at: new Date(row.at),
  own: row.own,
});

const wire = (amount: bigint | null) => (amount === null ? null : toWireAmount(amount));

const presentRow = ({ verdicts, ...run }: StatementRun) => ({
  id: run._id,
  provider: run.provider,
  name: run.name,
  rows: run.rows,
  from: run.from?.toISOString() ?? null,
  to: run.to?.toISOString() ?? null,
  created_at: run.started_at.toISOString(),
  ended_at: run.ended_at?.toISOString() ?? null,
  complete: verdicts?.complete.ok ?? null,
  balance: verdicts?.balance.ok ?? null,
  agreement: verdicts?.agreement.ok ?? null,
  breaks: verdicts?.agreement.breaks ?? null,
});

/** The statement with the figures of its proofs. */
export function presentStatement(run: StatementRun) {
  const { balance, agreement, complete } = run.verdicts ?? {};
  return {
    ...presentRow(run),
    gaps: complete?.gaps ?? run.gap_lines.length,
    records: agreement?.records ?? null,
    opening_minor: wire(run.opening_minor),
    closing_minor: wire(run.closing_minor),
    clearing_minor: wire(balance?.clearing_minor ?? null),
    own_minor: toWireAmount(run.own_minor),
    fees_minor: toWireAmount(run.fees_minor),
    in_flight_minor: wire(balance?.in_flight_minor ?? null),
    difference_minor: wire(balance?.difference_minor ?? null),
  };
}
