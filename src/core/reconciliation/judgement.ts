import { DAY_MS } from '../../shared/durations.js';
import { groupBy } from '../../shared/group.js';
import type { BreakKind } from './break.js';

/** The time that a statement is about; null: an end that is not known. `to` is not part of it. */
export type Span = { from: Date | null; to: Date | null };

/** Money that moved at the provider, by a row of its statement. Positive: into our balance. */
export type Moved = {
  amountMinor: bigint;
  feeMinor: bigint | null;
  at: Date;
  run: string;
  /** The same row of another statement is within this time. */
  precisionMs: number;
  /** The time that its statement is about, as far as it is known. */
  span?: Span | undefined;
};

/** A movement of the same record by our ledger, as it should show at the provider. */
export type Movement = { amountMinor: bigint; feeMinor: bigint; at: Date };

/** Both sides of one record, in the order of time. */
export type Sides = {
  rows: readonly Moved[];
  movements: readonly Movement[];
  /** True if there is a record, with or without movements. */
  isKnown: boolean;
};

/** The period of a statement. Movements within `slackMs` of its ends may be in another statement. */
export type Period = { from: Date; to: Date; slackMs: number };

/** The difference of a record from the statement, with the money at stake. */
export type Finding = { kind: BreakKind; amountMinor: bigint; difference: string };

const sum = (of: readonly { amountMinor: bigint }[]): bigint =>
  of.reduce((total, { amountMinor }) => total + amountMinor, 0n);

const abs = (amountMinor: bigint): bigint => (amountMinor < 0n ? -amountMinor : amountMinor);

/**
 * Compares the rows of a record, of all statements, with the movements of our ledger. Null if they agree, or may still: a
 * movement near the end of the period may be in the next statement.
 */
export function judge({ rows, movements, isKnown }: Sides, period: Period): Finding | null {
  const theirs = sum(rows);
  if (movements.length === 0) return unbooked(theirs, isKnown);
  if (agrees(movements, theirs, period)) return feeOf(rows, movements);
  const ours = sum(movements);
  const stake = abs(theirs - ours);
  const words = `${ours} with us, ${theirs} at the provider`;
  if (isRepeated(rows, theirs - ours)) {
    return { kind: 'duplicate', amountMinor: stake, difference: `moved twice: ${words}` };
  }
  const kind = theirs === 0n || ours === 0n ? 'other_state' : 'other_amount';
  return { kind, amountMinor: stake, difference: words };
}

function unbooked(theirs: bigint, isKnown: boolean): Finding | null {
  if (theirs === 0n) return null;
  const difference = `nothing with us, ${theirs} at the provider`;
  const kind = isKnown ? 'other_state' : 'missing_here';
  return { kind, amountMinor: abs(theirs), difference };
}

/** True if the rows are all movements, or all but some near the ends of the period. */
function agrees(movements: readonly Movement[], theirs: bigint, period: Period): boolean {
  const { from, to, slackMs } = period;
  const early = movements.findIndex(({ at }) => at.getTime() >= from.getTime() + slackMs);
  const late = movements.findIndex(({ at }) => at.getTime() >= to.getTime() - slackMs);
  const mostSkipped = early === -1 ? movements.length : early;
  const leastKept = late === -1 ? movements.length : late;
  for (let first = 0; first <= mostSkipped; first += 1) {
    for (let end = Math.max(first, leastKept); end <= movements.length; end += 1) {
      if (sum(movements.slice(first, end)) === theirs) return true;
    }
  }
  return false;
}

/** True if the surplus is one row that is there more than once. */
function isRepeated(rows: readonly Moved[], surplus: bigint): boolean {
  const equal = rows.filter(({ amountMinor }) => amountMinor === surplus);
  return surplus !== 0n && equal.length > 1;
}

/** Our ledger books the fees of money that comes in; those of payouts are the price of the provider. */
function feeOf(rows: readonly Moved[], movements: readonly Movement[]): Finding | null {
  if (rows.length === 0 || rows.some(({ feeMinor }) => feeMinor === null)) return null;
  if (!movements.some(({ amountMinor }) => amountMinor > 0n)) return null;
  const theirs = rows.reduce((total, { feeMinor }) => total + (feeMinor ?? 0n), 0n);
  const ours = movements.reduce((total, { feeMinor }) => total + feeMinor, 0n);
  if (theirs === ours) return null;
  const difference = `a fee of ${ours} with us, ${theirs} at the provider`;
  return { kind: 'fee_differs', amountMinor: abs(theirs - ours), difference };
}

/**
 * The rows of a record over all statements. Statements may overlap: a row that two of them have counts once. Those with dates
 * alone come last, so that two rows with times are never taken for one; each takes the earliest that it may be.
 */
export function unionOfRows(rows: readonly Moved[]): Moved[] {
  const ordered = rows.toSorted((a, b) => a.precisionMs - b.precisionMs || byTime(a, b));
  const [first = [], ...others] = groupBy(ordered, ({ run }) => run).values();
  const union = [...first];
  for (const ofRun of others) {
    const left = union.toSorted(byTime);
    const added = ofRun.filter((row) => {
      const same = left.findIndex((each) => isSameRow(each, row));
      if (same !== -1) left.splice(same, 1);
      return same === -1;
    });
    union.push(...added);
  }
  return union;
}

type Comparable = Pick<Moved, 'amountMinor' | 'at' | 'precisionMs' | 'span'>;

const byTime = (a: Pick<Moved, 'at'>, b: Pick<Moved, 'at'>): number =>
  a.at.getTime() - b.at.getTime();

/** True if rows of two statements may be one: with dates alone, of one day; with times, where the statements overlap. */
export function isSameRow(a: Comparable, b: Comparable): boolean {
  if (a.amountMinor !== b.amountMinor) return false;
  const dated = [a, b].filter(({ precisionMs }) => precisionMs >= DAY_MS).length;
  if (dated === 2) return byTime(a, b) === 0;
  const isNear = Math.abs(byTime(a, b)) < Math.max(a.precisionMs, b.precisionMs);
  return isNear && (dated === 1 || (covers(a.span, b.at) && covers(b.span, a.at)));
}

const covers = ({ from, to }: Span = { from: null, to: null }, at: Date): boolean =>
  (from === null || at >= from) && (to === null || at < to);
