import type { FactOrigin, PursuitFact } from './facts.js';
import { isOpen, needsWorkflow, type PursuedRecord } from './record.js';
import { timelineEntry, type TimelineType } from './timeline.js';
import type { Words } from './words.js';

/** What the guard needs of a record beside its pursuit: how it ended, and where its money stands. */
export type GuardedRecord = PursuedRecord & {
  failure: { code: string; message: string } | null;
  /** Done by the provider and proven after the hold was released: booked against `suspense`. */
  in_suspense: boolean;
  completed_at: Date | null;
  reversed_at: Date | null;
};

/** How a fact moves what a record has held. Which postings that are, its capability says; they come in this order. */
export type Move =
  'capture' | 'release' | 'reversal' | 'suspense' | 'suspense-reversal' | 'adoption';

/** What a fact does. `unchanged` and `stale` write nothing. */
export type Guarded<R> = {
  verdict: 'applied' | 'unchanged' | 'stale' | 'attention';
  next: R;
  moves: Move[];
};

/** What the guard has to be told about a record. */
export type Terms<R> = {
  words: Words;
  orderedMinor: bigint | null;
  /** Whether the wallet has what an adoption takes from it. */
  covered: boolean;
  failure(code: string): { code: string; message: string };
  /** What becomes of the money, for the timeline. */
  told: { captured: string; reversed: string };
  /** What else a payment or its reversal leaves with the record. */
  proof?(fact: Extract<PursuitFact, { kind: 'paid' | 'reversed' }>): Partial<R>;
  /** What of the fact can't be, beside another amount: no money moves, and an operator has to look. */
  contradicts?(fact: PursuitFact): string | null;
  /** How the timeline calls the fact, where its kind does not say it. */
  label?: string;
};

/** How long the provider is asked on after an operator gave a record up against its silence. */
const WATCH_MS = 24 * 60 * 60 * 1000;

type Change = {
  set: Partial<GuardedRecord>;
  entry: [TimelineType, string];
  moves?: Move[];
  verdict?: 'applied' | 'attention';
};

type Case = { record: GuardedRecord; now: Date; terms: Terms<never> & { proven: object } };

/**
 * The state guard: what a fact does to a record that holds money until its end is proven. Pure, total, and the only
 * place where such a record ends. A fact that is already so changes nothing; one that contradicts what is booked moves
 * no money and asks for an operator.
 */
export function guard<R extends GuardedRecord>(
  record: R,
  fact: PursuitFact,
  now: Date,
  terms: Terms<R>,
): Guarded<R> {
  const isProof = fact.kind === 'paid' || fact.kind === 'reversed';
  const proven = (isProof && terms.proof?.(fact)) || {};
  const change = decideFact({ record, now, terms: { ...terms, proven } as Case['terms'] }, fact);
  if (typeof change === 'string') return { verdict: change, next: record, moves: [] };
  const { set, entry, moves = [], verdict = 'applied' } = change;
  const origin = { providerRequestId: fact.providerRequestId };
  const actor = fact.actor ?? record.provider;
  const detail = [terms.label ?? labelOf(fact), fact.note].filter((part) => part !== null);
  const told = timelineEntry(now, fact.via, actor, { detail: detail.join('; '), ...origin });
  const done = timelineEntry(now, entry[0], 'bursar', { detail: entry[1] });
  const next: R = {
    ...record,
    ...set,
    version: record.version + 1,
    updated_at: now,
    timeline: [...record.timeline, told, done],
  };
  if (!needsWorkflow(next)) next.due_at = null;
  else next.due_at ??= now;
  return { verdict, next, moves };
}

const labelOf = (fact: PursuitFact) =>
  fact.kind === 'refused' ? `refused: ${fact.code}` : fact.kind;

function decideFact(given: Case, fact: PursuitFact): Change | 'unchanged' | 'stale' {
  const { record, terms } = given;
  if ('amountMinor' in fact && fact.amountMinor !== null) {
    if (fact.amountMinor !== terms.orderedMinor) {
      const { provider } = terms.words;
      const reason = `the ${provider} reports another amount than was ordered (${fact.kind})`;
      return raise(given, reason);
    }
  }
  const contradiction = terms.contradicts?.(fact) ?? null;
  if (contradiction !== null) return raise(given, contradiction);
  if (fact.kind === 'refused' && fact.ifUnsent && record.sends > 0) return 'stale';
  if (isOpen(record)) return decideOpen(given, fact);
  return record.status === 'completed' ? decideCompleted(given, fact) : decideFailed(given, fact);
}

function decideOpen(given: Case, fact: PursuitFact): Change | 'stale' {
  const { now, terms } = given;
  switch (fact.kind) {
    case 'paid':
      return {
        set: { status: 'completed', completed_at: now, attention: null, ...terms.proven },
        entry: ['settled', terms.told.captured],
        moves: ['capture'],
      };
    case 'refused':
      return refuse(given, fact.code, fact);
    case 'reversed':
      return { ...reverse(given), moves: ['capture', 'reversal'] };
    case 'confirmed':
      return 'stale';
  }
}

/** The hold goes back to the wallet. Where an operator says so against a silent provider, it is watched on. */
function refuse({ record, now, terms }: Case, code: string, { via }: FactOrigin): Change {
  const watched = via === 'operator' && record.sends > 0;
  return {
    set: {
      status: 'failed',
      failure: terms.failure(code),
      attention: null,
      watch_until: watched ? new Date(now.getTime() + WATCH_MS) : null,
    },
    entry: ['released', 'the hold was released to the wallet'],
    moves: ['release'],
  };
}

/** Done and taken back: what the wallet has paid returns to it, whether that had been booked or not. */
function reverse({ now, terms }: Case): Change {
  return {
    set: {
      status: 'failed',
      failure: terms.failure('reversed'),
      attention: null,
      reversed_at: now,
      watch_until: null,
      ...terms.proven,
    },
    entry: ['reversed', terms.told.reversed],
    moves: ['reversal'],
  };
}

function decideCompleted(given: Case, fact: PursuitFact): Change | 'unchanged' | 'stale' {
  const { provider, paid } = given.terms.words;
  if (fact.kind === 'paid') return 'unchanged';
  if (fact.kind === 'reversed') return reverse(given);
  if (fact.kind === 'confirmed') return settleAttention(given);
  return raise(given, `the ${provider} refused what it had reported as ${paid}`);
}

function settleAttention({ record, terms }: Case): Change | 'unchanged' {
  const { provider, payment } = terms.words;
  if (record.attention === null) return 'unchanged';
  return {
    set: { attention: null },
    entry: [
      'attention_cleared',
      `an operator stands by the ${payment}, and so does the ${provider}`,
    ],
  };
}

function decideFailed(given: Case, fact: PursuitFact): Change | 'unchanged' | 'stale' {
  const { record, terms } = given;
  const { provider, pay } = terms.words;
  switch (fact.kind) {
    case 'refused':
      if (record.watch_until === null || fact.via === 'operator') return 'unchanged';
      return {
        set: { watch_until: null },
        entry: ['note', `the ${provider} confirms that it did not ${pay}`],
      };
    case 'paid':
      if (record.reversed_at !== null) return 'stale';
      return record.in_suspense ? 'unchanged' : suspend(given);
    case 'reversed':
      return record.reversed_at === null ? takeBack(given) : 'unchanged';
    case 'confirmed':
      return record.in_suspense ? adopt(given) : 'stale';
  }
}

/** Proven after the hold was given back: it has happened, and nobody has paid for it yet. */
function suspend({ now, terms }: Case): Change {
  const { provider, paid, payment } = terms.words;
  const reason = `${paid} by the ${provider} after the hold had been released`;
  return {
    set: {
      in_suspense: true,
      watch_until: null,
      ...terms.proven,
      attention: { since: now, reason },
    },
    entry: ['suspense', `the ${payment} was booked against suspense`],
    moves: ['suspense'],
    verdict: 'attention',
  };
}

function takeBack({ record, now, terms }: Case): Change {
  const { provider, payment } = terms.words;
  return {
    set: { reversed_at: now, in_suspense: false, attention: null, watch_until: null },
    entry: [
      'reversed',
      `the ${provider} took the ${payment} back; the wallet had its money already`,
    ],
    moves: record.in_suspense ? ['suspense-reversal'] : [],
  };
}

/** An operator lets the wallet pay after all; what it lacks is owed. */
function adopt({ now, terms }: Case): Change {
  const { payment } = terms.words;
  const reason = `the wallet could not cover this ${payment}`;
  return {
    set: {
      status: 'completed',
      failure: null,
      in_suspense: false,
      completed_at: now,
      attention: terms.covered ? null : { since: now, reason },
    },
    entry: ['settled', `the wallet was debited for a ${payment} that had been proven late`],
    moves: ['adoption'],
  };
}

/** No money moves; an operator has to look. Said once: the same reason again changes nothing. */
function raise({ record, now }: Case, reason: string): Change | 'unchanged' {
  if (record.attention?.reason === reason) return 'unchanged';
  return {
    set: { attention: { since: now, reason } },
    entry: ['attention_raised', reason],
    verdict: 'attention',
  };
}
