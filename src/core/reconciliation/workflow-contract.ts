import type { PagePosition } from './pages.js';

/** Numbers of records that a reconciliation has asked about, had no answer for, found differing, and corrected. */
export type RecordCounts = {
  asked: number;
  unanswered: number;
  differing: number;
  settled: number;
};

/** Input of one page of the comparison of a capability's records. Without a position, it begins `days` days ago. */
export type RecordPageInput = {
  /** The capability. */
  kind: string;
  days: number;
  /** Lookups at the providers per second. */
  perSecond: number;
  position: PagePosition | null;
};

/** The result of one page. Without a position, nothing is left. */
export type RecordPageResult = { counts: RecordCounts; position: PagePosition | null };

/** Repeats of one page without an answer. The next run of the Schedule compares its records again. */
export const PAGE_REPEATS = 5;

/** `PAGE_REPEATS` of the version that started the run. Older runs have none. */
export type PageBounds = { pageRepeats?: number };

/** Input of `recordReconciliation`: the position and the counts are those of earlier runs of the same reconciliation. */
export type RecordReconciliationInput = RecordPageInput & PageBounds & { counts: RecordCounts };

/** Id of the Schedule and of its workflow. Each set of workers has a reconciliation for each kind. */
export const recordReconciliationId = (taskQueue: string, kind: string): string =>
  `record-reconciliation/${taskQueue}/${kind}`;

/** The place of a reading of statements: its day, and the first day that was not over when it began. Days in Africa/Lagos. */
export type StatementPosition = Missed & { day: string; until: string };

/** True once the statement of a day could not be read: the next run of the Schedule reads it. */
type Missed = { missed: boolean };

/** Input of one page of a provider's own statements. Without a position, it begins with the day `days` days ago. */
export type StatementPageInput = {
  provider: string;
  days: number;
  /** Calls to the provider per second. */
  perSecond: number;
  position: StatementPosition | null;
};

/** The result of one page. `asked` counts rows. Without a position, nothing is left. */
export type StatementPageResult = Missed & {
  counts: RecordCounts;
  position: StatementPosition | null;
};

/** Input of `statementReconciliation`: the position and the counts are those of earlier runs of the same reconciliation. */
export type StatementReconciliationInput = StatementPageInput &
  PageBounds & { counts: RecordCounts };

/** Id of the Schedule and of its workflow. Each set of workers has one for each provider with a statement. */
export const statementReconciliationId = (taskQueue: string, provider: string): string =>
  `statement-reconciliation/${taskQueue}/${provider}`;
