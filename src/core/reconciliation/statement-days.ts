import { questionsOf, transferRateLimitKey } from '../../platform/temporal/queues.js';
import { DAY_MS } from '../../shared/durations.js';
import { endOfDay, startOfDay } from '../ledger/days.js';
import { lagosDay } from '../ledger/wallet.js';
import type { CallRates } from '../providers/call-rates.js';
import type { Providers } from '../providers/registry.js';
import { createPace, type ReconcileRun } from './comparison.js';
import { PULLED_AFTER_MS, type StatementRun, type Verdicts } from './statement.js';
import type { Statements } from './statements.js';
import type {
  StatementPageInput,
  StatementPageResult,
  StatementPosition,
} from './workflow-contract.js';

/** Parts that the reading of statements needs. */
export type StatementDaysDeps = {
  statements: Pick<Statements, 'pullPage'>;
  providers: Pick<Providers, 'find'>;
  callRates: Pick<CallRates, 'takeWithin'>;
  answered?: ReconcileRun['answered'];
  /** Compares a statement with the ledger, and keeps the breaks. */
  matchStatement: (run: StatementRun) => Promise<Verdicts>;
  clock?: () => Date;
};

const NOTHING = { asked: 0, unanswered: 0, differing: 0, settled: 0 };

/**
 * Reads the next page of a provider's own statements, one for each of the last days that are over, the oldest first. A day whose
 * last row is there is compared with the ledger, and so is one that an earlier run has found differing. A repeated page adds no
 * row twice.
 */
export async function readStatementPage(
  { statements, matchStatement, callRates, ...deps }: StatementDaysDeps,
  { provider: name, days, perSecond, position }: StatementPageInput,
  signal: AbortSignal,
): Promise<StatementPageResult> {
  const provider = deps.providers.find(name);
  if (!provider?.ledger) return { counts: NOTHING, position: null, missed: false };
  const at = position ?? firstPosition(days, deps.clock?.() ?? new Date());
  const rateLimit = questionsOf(transferRateLimitKey(name));
  const pace = createPace(perSecond, signal);
  const takeTurn = async () => {
    await pace();
    await callRates.takeWithin(rateLimit, 'reconciliation', Infinity, signal);
  };
  const page = await statements.pullPage(provider, {
    from: startOfDay(at.day),
    to: endOfDay(at.day),
    takeTurn,
    signal,
    answered: (answer) => deps.answered?.(rateLimit, answer),
  });
  if (!page) {
    const silence = { ...NOTHING, asked: 1, unanswered: 1 };
    return { counts: silence, position: nextDay({ ...at, missed: true }), missed: true };
  }
  const { run, added: asked } = page;
  const { missed } = at;
  if (!run.has_last_row) return { counts: { ...NOTHING, asked }, position: at, missed };
  const agrees = run.verdicts?.agreement.ok === true;
  const differing = agrees ? 0 : (await matchStatement(run)).agreement.breaks;
  return { counts: { ...NOTHING, asked, differing }, position: nextDay(at), missed };
}

const before = (day: string, days: number): string =>
  lagosDay(new Date(startOfDay(day).getTime() - days * DAY_MS));

function firstPosition(days: number, now: Date): StatementPosition {
  const until = lagosDay(new Date(now.getTime() - PULLED_AFTER_MS));
  return { day: before(until, days), until, missed: false };
}

/** The place of the day after this one; null after the last. */
function nextDay({ day, ...rest }: StatementPosition): StatementPosition | null {
  const next = lagosDay(endOfDay(day));
  return next < rest.until ? { day: next, ...rest } : null;
}
