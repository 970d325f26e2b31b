import type { Posting } from '../ledger/posting.js';
import type { Wallet } from '../ledger/wallet.js';
import type { FactOrigin, PursuitFact } from '../pursuits/facts.js';
import { isOpen, needsWorkflow } from '../pursuits/record.js';
import { timelineEntry, type TimelineType } from '../pursuits/timeline.js';
import {
  adoptionPosting,
  capturePosting,
  releasePosting,
  reversalPosting,
  suspensePosting,
} from './postings.js';
import type { NoSuchAccount } from './reports.js';
import { failure, type Transfer } from './transfer.js';

/** What became known, whoever said it. */
export type TransferFact = PursuitFact | (FactOrigin & NoSuchAccount);

/** What of the wallet matters: what can be spent, and what is owed. */
type Purse = Pick<Wallet, 'availableMinor' | 'owedMinor'>;

/** What a fact does. `unchanged` and `stale` write nothing. */
export type Transition = {
  verdict: 'applied' | 'unchanged' | 'stale' | 'attention';
  next: Transfer;
  postings: Posting[];
  /** What is added to the wallet's available balance (negative: taken). */
  availableMinor: bigint;
  /** What the wallet could not cover and owes from now on; negative: what it has paid back. */
  owedMinor: bigint;
  /** What the day of acceptance gets back. */
  dayMinor: bigint;
};

/** How long the bank is asked on after an operator gave a transfer up against its silence. */
const WATCH_MS = 24 * 60 * 60 * 1000;

type Change = {
  set: Partial<Transfer>;
  entry: [TimelineType, string];
  postings?: Posting[];
  availableMinor?: bigint;
  owedMinor?: bigint;
  dayMinor?: bigint;
  verdict?: 'applied' | 'attention';
};

/**
 * The state guard: what a fact does to a transfer. Pure, total, and the only place where a transfer ends.
 * A fact that is already so changes nothing; one that contradicts what is booked moves no money and asks for an
 * operator.
 */
export function applyFact(
  transfer: Transfer,
  fact: TransferFact,
  now: Date,
  wallet: Purse,
): Transition {
  const change = decideFact(transfer, fact, now, wallet);
  const idle = { postings: [], availableMinor: 0n, owedMinor: 0n, dayMinor: 0n };
  if (typeof change === 'string') return { verdict: change, next: transfer, ...idle };
  const { set, entry, verdict = 'applied', ...effects } = change;
  const origin = { providerRequestId: fact.providerRequestId };
  const actor = fact.actor ?? transfer.provider;
  const told = timelineEntry(now, fact.via, actor, { detail: tell(fact), ...origin });
  const done = timelineEntry(now, entry[0], 'bursar', { detail: entry[1] });
  const next: Transfer = {
    ...transfer,
    ...set,
    version: transfer.version + 1,
    updated_at: now,
    timeline: [...transfer.timeline, told, done],
  };
  if (!needsWorkflow(next)) next.due_at = null;
  else next.due_at ??= now;
  return { verdict, next, ...idle, ...effects };
}

const tell = (fact: TransferFact) =>
  [fact.kind === 'refused' ? `refused: ${fact.code}` : fact.kind, fact.note]
    .filter((part) => part !== null)
    .join('; ');

function decideFact(
  transfer: Transfer,
  fact: TransferFact,
  now: Date,
  wallet: Purse,
): Change | 'unchanged' | 'stale' {
  if ('amountMinor' in fact && fact.amountMinor !== null) {
    if (fact.amountMinor !== transfer.amount_minor) {
      return raise(
        transfer,
        now,
        `the bank reports another amount than was ordered (${fact.kind})`,
      );
    }
  }
  if (fact.kind === 'no_such_account') {
    // Once an order may be on its way, only the bank's word about the payment counts.
    const unsent = transfer.status === 'pending' && transfer.sends === 0;
    return unsent ? refuse(transfer, 'invalid_account', fact, now) : 'stale';
  }
  if (fact.kind === 'refused' && fact.ifUnsent && transfer.sends > 0) return 'stale';
  if (isOpen(transfer)) return decideOpen(transfer, fact, now, wallet);
  return transfer.status === 'completed'
    ? decideCompleted(transfer, fact, now, wallet)
    : decideFailed(transfer, fact, now, wallet);
}

function decideOpen(
  transfer: Transfer,
  fact: PursuitFact,
  now: Date,
  wallet: Purse,
): Change | 'stale' {
  switch (fact.kind) {
    case 'paid':
      return {
        set: {
          status: 'completed',
          session_id: fact.sessionId,
          completed_at: now,
          attention: null,
        },
        entry: ['settled', 'the hold was captured, the fee was booked'],
        postings: [capturePosting(transfer, now)],
      };
    case 'refused':
      return refuse(transfer, fact.code, fact, now);
    case 'reversed': {
      const reversal = reverse(transfer, fact.sessionId, now, wallet);
      return { ...reversal, postings: [capturePosting(transfer, now), ...reversal.postings] };
    }
    case 'confirmed':
      return 'stale';
  }
}

function settleAttention(transfer: Transfer): Change | 'unchanged' {
  if (transfer.attention === null) return 'unchanged';
  return {
    set: { attention: null },
    entry: ['attention_cleared', 'an operator stands by the payment, and so does the bank'],
  };
}

/** The hold goes back to the wallet. Where an operator says so against a silent bank, the bank is watched on. */
function refuse(transfer: Transfer, code: string, { via }: FactOrigin, now: Date): Change {
  const watched = via === 'operator' && transfer.sends > 0;
  return {
    set: {
      status: 'failed',
      failure: failure(code),
      attention: null,
      watch_until: watched ? new Date(now.getTime() + WATCH_MS) : null,
    },
    entry: ['released', 'the hold was released to the wallet'],
    postings: [releasePosting(transfer, now)],
    availableMinor: transfer.total_minor,
    dayMinor: transfer.amount_minor,
  };
}

/**
 * Paid and taken back: amount and fee return to the wallet, whether the payment had been booked or not. It is money
 * that comes in, so what the tenant owes is taken from it first.
 */
function reverse(
  transfer: Transfer,
  sessionId: string | null,
  now: Date,
  { owedMinor: owed }: Purse,
): Change & { postings: Posting[] } {
  const repaid = owed < transfer.total_minor ? owed : transfer.total_minor;
  return {
    set: {
      status: 'failed',
      failure: failure('reversed'),
      attention: null,
      session_id: sessionId ?? transfer.session_id,
      reversed_at: now,
      watch_until: null,
    },
    entry: ['reversed', 'amount and fee were credited back to the wallet'],
    postings: [reversalPosting(transfer, now, repaid)],
    availableMinor: transfer.total_minor - repaid,
    owedMinor: -repaid,
    dayMinor: transfer.amount_minor,
  };
}

function decideCompleted(
  transfer: Transfer,
  fact: PursuitFact,
  now: Date,
  wallet: Purse,
): Change | 'unchanged' | 'stale' {
  if (fact.kind === 'paid') return 'unchanged';
  if (fact.kind === 'reversed') return reverse(transfer, fact.sessionId, now, wallet);
  if (fact.kind === 'confirmed') return settleAttention(transfer);
  return raise(transfer, now, 'the bank refused what it had reported as paid');
}

function decideFailed(
  transfer: Transfer,
  fact: PursuitFact,
  now: Date,
  wallet: Purse,
): Change | 'unchanged' | 'stale' {
  switch (fact.kind) {
    case 'refused':
      if (transfer.watch_until === null || fact.via === 'operator') return 'unchanged';
      return {
        set: { watch_until: null },
        entry: ['note', 'the bank confirms that it did not pay'],
      };
    case 'paid':
      if (transfer.reversed_at !== null) return 'stale';
      if (transfer.in_suspense) return 'unchanged';
      return {
        set: {
          in_suspense: true,
          watch_until: null,
          session_id: fact.sessionId,
          attention: { since: now, reason: 'paid by the bank after the hold had been released' },
        },
        entry: ['suspense', 'the payment was booked against suspense'],
        postings: [suspensePosting(transfer, now, 'in')],
        verdict: 'attention',
      };
    case 'reversed':
      if (transfer.reversed_at !== null) return 'unchanged';
      return {
        set: { reversed_at: now, in_suspense: false, attention: null, watch_until: null },
        entry: ['reversed', 'the bank took the payment back; the wallet had its money already'],
        postings: transfer.in_suspense ? [suspensePosting(transfer, now, 'out')] : [],
      };
    case 'confirmed':
      return transfer.in_suspense ? adopt(transfer, now, wallet) : 'stale';
  }
}

function adopt(transfer: Transfer, now: Date, { availableMinor }: Purse): Change {
  const total = transfer.total_minor;
  const owedMinor = availableMinor >= total ? 0n : total - availableMinor;
  return {
    set: {
      status: 'completed',
      failure: null,
      in_suspense: false,
      completed_at: now,
      attention:
        owedMinor === 0n ? null : { since: now, reason: 'the wallet could not cover this payment' },
    },
    entry: ['settled', 'the wallet was debited for a payment that had been proven late'],
    postings: [adoptionPosting(transfer, now, owedMinor)],
    availableMinor: owedMinor - total,
    owedMinor,
  };
}

/** No money moves; an operator has to look. Said once: the same reason again changes nothing. */
function raise(transfer: Transfer, now: Date, reason: string): Change | 'unchanged' {
  if (transfer.attention?.reason === reason) return 'unchanged';
  return {
    set: { attention: { since: now, reason } },
    entry: ['attention_raised', reason],
    verdict: 'attention',
  };
}
