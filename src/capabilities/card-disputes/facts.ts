import type { CardDisputeState } from '../../core/providers/card-issuer.js';
import type { CardDisputeStatus } from './record.js';

/** A fact about a dispute. Its amount is in kobo, and zero where it has none. */
export type CardDisputeFact = {
  /** Identifies the fact, so that a repeat is ignored: made of the issuer's message id, or a name of ours. */
  key: string;
  kind: 'submitted' | 'refused' | 'credited' | 'credit_reversed' | 'won' | 'lost' | 'withdrawn';
  amount_minor: bigint;
  /** The reason of a refusal. */
  code: string | null;
  /** The time of the event itself, not of its arrival. */
  at: Date;
};

/** A dispute after its facts. */
export type DisputeBalance = {
  status: CardDisputeStatus;
  /** The amount that the issuer has given, and not taken back. */
  creditedMinor: bigint;
  /** The reason of a refusal. */
  code: string | null;
  /** The contradiction in the issuer's reports that an operator must clear up; null if there is none. */
  problem: string | null;
};

/** The decisions that end a dispute, in their order at one time. */
const DECISIONS = ['withdrawn', 'won', 'lost'] as const;
type Decision = CardDisputeFact & { kind: (typeof DECISIONS)[number] };

const isDecision = (fact: CardDisputeFact): fact is Decision =>
  DECISIONS.some((kind) => kind === fact.kind);

/** By time; at the same time by kind, then by key. */
const byTime = (a: Decision, b: Decision): number =>
  a.at.getTime() - b.at.getTime() ||
  DECISIONS.indexOf(a.kind) - DECISIONS.indexOf(b.kind) ||
  (a.key < b.key ? -1 : 1);

/**
 * The balance of a dispute after all its facts, whatever their order of arrival. The latest decision counts.
 *
 * | fact                     | status      | what the issuer gives                                   |
 * | ------------------------ | ----------- | ------------------------------------------------------- |
 * | none                     | `pending`   | nothing                                                 |
 * | refused, and no other    | `failed`    | nothing                                                 |
 * | submitted                | `open`      | its provisional credits, less what it has taken back    |
 * | more taken back          | `open`      | nothing, and an operator is called                      |
 * | refused after that       | `open`      | the same, and an operator is called                     |
 * | won                      | `won`       | the amount of the decision                              |
 * | lost                     | `lost`      | nothing                                                 |
 * | withdrawn                | `cancelled` | nothing                                                 |
 */
export function balanceAfter(facts: readonly CardDisputeFact[]): DisputeBalance {
  const decisions = facts.filter(isDecision).toSorted(byTime);
  const last = decisions.at(-1);
  const problem = contradictionIn(facts, decisions);
  if (last) {
    const creditedMinor = last.kind === 'won' ? last.amount_minor : 0n;
    return { status: DECIDED[last.kind], creditedMinor, code: null, problem };
  }
  const nothing = { creditedMinor: 0n, code: null, problem };
  const refusal = facts.find(({ kind }) => kind === 'refused');
  if (facts.every(({ kind }) => kind === 'refused')) {
    if (!refusal) return { status: 'pending', ...nothing };
    return { status: 'failed', ...nothing, code: refusal.code };
  }
  const provisional = sumOf(facts, 'credited') - sumOf(facts, 'credit_reversed');
  return { status: 'open', ...nothing, creditedMinor: provisional > 0n ? provisional : 0n };
}

/** A refusal of the issuer itself; others are ours, by an answer to us or by an operator. */
export const isRefusalOfIssuer = ({ kind, key }: CardDisputeFact): boolean =>
  kind === 'refused' && !key.startsWith(OUR_PROOF);

/** The beginning of the key of a fact that the outcome of one of our operations proves. */
export const OUR_PROOF = 'our-';

function contradictionIn(
  facts: readonly CardDisputeFact[],
  decisions: readonly Decision[],
): string | null {
  if (new Set(decisions.map(({ kind }) => kind)).size > 1) {
    return 'the issuer reports decisions of the dispute that exclude each other';
  }
  // Our own clock says nothing about the order of the issuer's reports.
  const isTakenBack = facts
    .filter(isRefusalOfIssuer)
    .some((refusal) =>
      facts.some(
        ({ kind, key, at }) => kind !== 'refused' && (key.startsWith(OUR_PROOF) || at < refusal.at),
      ),
    );
  if (isTakenBack) return 'the issuer refuses the dispute after it had accepted it';
  const last = decisions.at(-1);
  const isMovedAfter = facts.some(
    ({ kind, at }) =>
      last !== undefined &&
      at > last.at &&
      !last.key.startsWith(OUR_PROOF) &&
      (kind === 'credited' || (kind === 'credit_reversed' && last.kind === 'won')),
  );
  if (isMovedAfter) return 'the issuer moves a provisional credit after its decision';
  return sumOf(facts, 'credit_reversed') > sumOf(facts, 'credited')
    ? 'the issuer takes back more provisional credit than it has given'
    : null;
}

const DECIDED: Record<Decision['kind'], CardDisputeStatus> = {
  won: 'won',
  lost: 'lost',
  withdrawn: 'cancelled',
};

const sumOf = (facts: readonly CardDisputeFact[], of: CardDisputeFact['kind']): bigint =>
  facts.reduce((sum, { kind, amount_minor: amount }) => (kind === of ? sum + amount : sum), 0n);

/** The fact in an issuer's report. */
export function factOf(state: CardDisputeState, at: Date): CardDisputeFact {
  const kind = state.kind === 'rejected' ? 'refused' : state.kind;
  return {
    key: `${kind}-${state.messageId}`,
    kind,
    amount_minor: 'amountMinor' in state ? state.amountMinor : 0n,
    code: 'code' in state ? state.code : null,
    at,
  };
}
