import { DAY_MS } from '../../shared/durations.js';
import { describeActor, type Act } from '../../core/audit/entry.js';
import type { FactSource } from '../../core/instructions/fact.js';
import { timelineEntry, type TimelineType } from '../../core/instructions/instruction.js';
import type { Verdict } from '../../core/instructions/transition.js';
import type { Posting } from '../../core/ledger/posting.js';
import { payFromAvailable, payReceivable } from '../../core/ledger/receivable.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import type { Dispute, DisputeStatus } from './record.js';
import { decidedPosting, openPosting, takePosting, wonPosting } from './postings.js';

/** A provider's report about a dispute. */
export type DisputeFact = FactSource & {
  state: DisputeStatus;
  amountMinor: bigint;
  currency: string;
  funds: Dispute['funds'];
  reason: string | null;
  dueAt: Date | null;
  /** The provider reminds of a dispute that nobody has answered. */
  reminds?: boolean;
  /** Why it is lost: the charge is reversed, although the claim was declined. */
  byReversal?: boolean;
};

/** The balances that disputes change. */
export type WalletBalances = Pick<Wallet, 'availableMinor' | 'receivableMinor'>;

/** The effect of a fact. `disputedMinor`: the change of what the charge counts as disputed. */
export type Transition = {
  verdict: Verdict;
  next: Dispute;
  postings: Posting[];
  availableMinor: bigint;
  receivableMinor: bigint;
  disputedMinor: bigint;
};

/** The wallet, and the part of the charge that is neither refunded nor disputed. */
type Around = { wallet: WalletBalances; leftMinor: bigint };

const OWES = 'the wallet could not cover this dispute: the tenant owes the rest';
const DUE = 'the dispute is lost soon if nobody answers it at the provider';
const NOT_AWAITED = 'the provider waits for no answer';
const BEYOND = 'more is disputed and refunded than was paid';
const EXPLAINED =
  'the claim was declined, and refunds or other disputes have taken the whole charge back: decide the dispute';

/**
 * Opens a dispute: the payer's money goes to the account of disputes, or to clearing if the provider has taken it. It is a
 * fact that money is demanded, so it is booked whatever the wallet has.
 */
export function openDispute(
  dispute: Dispute,
  fact: DisputeFact,
  now: Date,
  { wallet, leftMinor }: Around,
): Transition {
  const { amount_minor: amountMinor } = dispute;
  const { owedMinor } = payFromAvailable(wallet, amountMinor);
  const booked = owedMinor > 0n ? OWES : leftMinor < amountMinor ? BEYOND : null;
  const reasons = [booked, isDue(fact, now) ? DUE : null].filter((each) => each !== null);
  return {
    verdict: reasons.length === 0 ? 'applied' : 'attention',
    next: {
      ...dispute,
      reason: fact.reason,
      due_at: fact.dueAt,
      attention: attentionFor(reasons, now),
    },
    postings: [openPosting(dispute, now, { funds: dispute.funds, owedMinor })],
    availableMinor: owedMinor - amountMinor,
    receivableMinor: owedMinor,
    disputedMinor: amountMinor,
  };
}

/**
 * The state machine of disputes: pure. Facts may come in any order and any number. `won` and `lost` are final; the amount
 * stays with its account until then, or goes to clearing when the provider takes it. `isInDoubt`: the fact leaves open whether the
 * dispute is lost, so an operator decides it, also if it was booked as lost before the reason for doubt was known.
 */
export function transitionDispute(
  dispute: Dispute,
  fact: DisputeFact,
  now: Date,
  { wallet, isInDoubt }: { wallet: WalletBalances; isInDoubt: boolean },
): Transition {
  const idle = { postings: [], availableMinor: 0n, receivableMinor: 0n, disputedMinor: 0n };
  const same = { next: dispute, ...idle };
  const contradiction = findContradiction(dispute, fact, isInDoubt);
  if (contradiction !== null) {
    return { ...same, ...call(dispute, fact, now, [...reasonsOf(dispute), contradiction]) };
  }
  if (isInDoubt && isUndecided(dispute)) {
    const others = reasonsOf(dispute).filter((each) => each !== DUE && each !== EXPLAINED);
    return { ...same, ...call(dispute, fact, now, [...others, EXPLAINED]) };
  }
  if (dispute.status !== 'open') return { verdict: 'unchanged', ...same };
  switch (fact.state) {
    case 'won': {
      const { funds, amount_minor: amountMinor } = dispute;
      const { repaidMinor, restMinor } = payReceivable(wallet, amountMinor);
      return {
        verdict: 'applied',
        next: changed(
          dispute,
          fact,
          now,
          { status: 'won', decided_at: now, attention: without(dispute, [OWES, DUE, EXPLAINED]) },
          ['credited', 'the dispute is won, and the amount is in the wallet again'],
        ),
        postings: [wonPosting(dispute, now, { funds, repaidMinor })],
        availableMinor: restMinor,
        receivableMinor: -repaidMinor,
        disputedMinor: -amountMinor,
      };
    }
    case 'lost':
      return {
        ...same,
        verdict: 'applied',
        next: changed(
          dispute,
          fact,
          now,
          {
            status: 'lost',
            funds: 'taken',
            decided_at: now,
            attention: without(dispute, [DUE, EXPLAINED]),
          },
          ['captured', 'the dispute is lost'],
        ),
        postings: dispute.funds === 'with_us' ? [takePosting(dispute, now)] : [],
      };
    case 'open':
      return { ...same, ...goOn(dispute, fact, now) };
  }
}

/**
 * True for a dispute whose loss an operator must decide or has not looked at. The refunds and disputes that leave the loss in doubt
 * may become known after it was booked.
 */
const isUndecided = ({ status, operator_decisions: decisions }: Dispute): boolean =>
  status !== 'won' && decisions === undefined;

/** Calls an operator for the last of these reasons, unless the dispute has it already or an operator has acknowledged it. */
function call(
  dispute: Dispute,
  fact: DisputeFact,
  now: Date,
  reasons: readonly string[],
): Pick<Transition, 'verdict' | 'next'> {
  const reason = reasons.at(-1) ?? '';
  const known = [...reasonsOf(dispute), ...(dispute.acknowledged ?? [])];
  if (known.includes(reason)) return { verdict: 'unchanged', next: dispute };
  const attention = attentionFor(reasons, now);
  const next = changed(dispute, fact, now, { attention }, ['attention_raised', reason]);
  return { verdict: 'attention', next };
}

/** The change of an open dispute that stays open: its provider takes the amount, or an operator is called or not needed. */
function goOn(
  dispute: Dispute,
  fact: DisputeFact,
  now: Date,
): Pick<Transition, 'verdict' | 'next' | 'postings'> {
  const isTaken = dispute.funds === 'with_us' && fact.funds === 'taken';
  const call = callIn(dispute, fact, now);
  if (!isTaken && call === null) return { verdict: 'unchanged', next: dispute, postings: [] };
  const set = { ...(isTaken && { funds: 'taken' as const }), ...call?.set };
  const entries = [...(isTaken ? [TAKEN] : []), ...(call ? [call.entry] : [])];
  return {
    verdict: call?.entry[0] === 'attention_raised' ? 'attention' : 'applied',
    next: changed(dispute, fact, now, set, ...entries),
    postings: isTaken ? [takePosting(dispute, now)] : [],
  };
}

type Entry = [TimelineType, string];
const TAKEN: Entry = ['captured', 'the provider has taken the amount while the dispute is open'];

/** The time before the end of a dispute at which an operator is called, because only a person can answer it. */
const CALLED_BEFORE_MS = DAY_MS;

/** True if the provider says until when it waits for an answer, and that time is not over. */
const isAwaited = ({ dueAt }: DisputeFact, now: Date): boolean => dueAt !== null && dueAt > now;

function isDue(fact: DisputeFact, now: Date): boolean {
  const { state, dueAt, reminds = false } = fact;
  if (state !== 'open') return false;
  if (dueAt === null) return reminds;
  const leftMs = dueAt.getTime() - now.getTime();
  return isAwaited(fact, now) && (reminds || leftMs <= CALLED_BEFORE_MS);
}

/**
 * Calls an operator once for an open dispute that is lost soon, whatever else it has attention for. The call ends once the
 * provider waits for no answer. Null if nothing changes.
 */
function callIn(
  dispute: Dispute,
  fact: DisputeFact,
  now: Date,
): { set: Pick<Dispute, 'attention'>; entry: Entry } | null {
  const reasons = reasonsOf(dispute);
  const isCalled = reasons.includes(DUE);
  if (isDue(fact, now)) {
    const set = { attention: attentionFor([...reasons, DUE], now) };
    return isCalled ? null : { set, entry: ['attention_raised', DUE] };
  }
  if (!isCalled || isAwaited(fact, now)) return null;
  return {
    set: { attention: without(dispute, [DUE]) },
    entry: ['attention_cleared', NOT_AWAITED],
  };
}

/** A dispute may need an operator for several reasons. No reason has the separator in it. */
const SEPARATOR = '; ';

const reasonsOf = ({ attention }: Dispute): string[] => attention?.reason.split(SEPARATOR) ?? [];

const attentionFor = (reasons: readonly string[], since: Date): Dispute['attention'] =>
  reasons.length === 0 ? null : { since, reason: reasons.join(SEPARATOR) };

/** The attention of a dispute without the reasons that are over. */
const without = (dispute: Dispute, over: readonly string[]): Dispute['attention'] =>
  attentionFor(
    reasonsOf(dispute).filter((reason) => !over.includes(reason)),
    dispute.attention?.since ?? dispute.updated_at,
  );

/** The reason why a report cannot be right, or null. */
function findContradiction(
  dispute: Dispute,
  { state, ...fact }: DisputeFact,
  isInDoubt: boolean,
): string | null {
  if (fact.currency !== dispute.currency) return 'the provider reports another currency';
  if (fact.amountMinor !== dispute.amount_minor) {
    return `the provider reports another amount: ${fact.amountMinor} kobo instead of ${dispute.amount_minor}`;
  }
  const isSilent = state === 'open' || isInDoubt;
  if (dispute.status === 'open' || isSilent || state === dispute.status) return null;
  return `the provider reports as ${state} what it had reported as ${dispute.status}`;
}

/** An operator's decision of a dispute whose reports contradict each other. */
export type DisputeDecision = {
  outcome: 'won' | 'lost';
  /** The amount that the provider names in the end. */
  amountMinor: bigint;
  act: Act;
};

/** The reason why a dispute cannot be decided so, or null. `chargeMinor`: the amount that the provider may take back of its charge. */
export function findObstacle(
  { status, amount_minor: disputedMinor }: Dispute,
  { outcome, amountMinor }: Omit<DisputeDecision, 'act'>,
  chargeMinor: bigint,
): string | null {
  if (status === outcome && disputedMinor === amountMinor) {
    return `It is ${status} already with this amount.`;
  }
  // More than the charge may be disputed, and is booked then.
  const mostMinor = disputedMinor > chargeMinor ? disputedMinor : chargeMinor;
  if (amountMinor <= mostMinor) return null;
  return `The amount is above that of its charge and of the dispute: at most ${mostMinor} kobo.`;
}

/** Decides a dispute as an operator says, if nothing stands against it; see `findObstacle`. */
export function decideDispute(
  dispute: Dispute,
  { outcome, amountMinor, act }: DisputeDecision,
  now: Date,
  { wallet, leftMinor }: Around,
): Omit<Transition, 'verdict'> {
  const heldMinor = dispute.status === 'won' ? 0n : dispute.amount_minor;
  const lostMinor = outcome === 'lost' ? amountMinor : 0n;
  const number = (dispute.operator_decisions ?? 0) + 1;
  const moved = payerPart(wallet, heldMinor - lostMinor);
  const posted = decidedPosting(dispute, now, {
    number,
    funds: dispute.funds,
    heldMinor,
    lostMinor,
    ...moved,
  });
  const isBeyond = lostMinor - heldMinor > leftMinor;
  const booked = moved.receivableMinor > 0n ? OWES : isBeyond ? BEYOND : null;
  const entries: Entry[] = [
    [outcome === 'won' ? 'credited' : 'captured', `the dispute is ${outcome}: ${amountMinor} kobo`],
  ];
  return {
    next: byOperator(
      dispute,
      act,
      now,
      {
        status: outcome,
        amount_minor: amountMinor,
        funds: outcome === 'lost' ? 'taken' : 'with_us',
        decided_at: now,
        attention: attentionFor(booked === null ? [] : [booked], now),
        // A list that is left out would stay stored.
        acknowledged: [],
        operator_decisions: posted ? number : number - 1,
      },
      entries,
    ),
    postings: posted ? [posted] : [],
    ...moved,
    disputedMinor: lostMinor - heldMinor,
  };
}

/** The changes of available amount and receivable when the payer gets this amount, or pays it if it is negative. */
function payerPart(
  wallet: WalletBalances,
  amountMinor: bigint,
): { availableMinor: bigint; receivableMinor: bigint } {
  if (amountMinor >= 0n) {
    const { repaidMinor, restMinor } = payReceivable(wallet, amountMinor);
    return { availableMinor: restMinor, receivableMinor: -repaidMinor };
  }
  const { paidMinor, owedMinor } = payFromAvailable(wallet, -amountMinor);
  return { availableMinor: -paidMinor, receivableMinor: owedMinor };
}

/**
 * Clears the attention of a dispute. Its contradictions call nobody again. An open dispute that waits for a decision keeps that
 * reason, because its amount is held until then. Null if nothing else is to be cleared, or if the attention is another one than
 * the operator has seen.
 */
export function acknowledgeDispute(
  dispute: Dispute,
  { seen, act }: { seen: string | null; act: Act },
  now: Date,
): Dispute | null {
  if (dispute.attention === null || dispute.attention.reason !== seen) return null;
  const awaited = dispute.status === 'open' ? [EXPLAINED] : [];
  const cleared = reasonsOf(dispute).filter((each) => !awaited.includes(each));
  if (cleared.length === 0) return null;
  const contradictions = cleared.filter((each) => ![OWES, DUE, BEYOND].includes(each));
  const acknowledged = [...(dispute.acknowledged ?? []), ...contradictions];
  return byOperator(
    dispute,
    act,
    now,
    {
      attention: without(dispute, cleared),
      ...(acknowledged.length > 0 && { acknowledged }),
    },
    [['attention_cleared', 'an operator has acknowledged it']],
  );
}

/** Tenants see on the timeline that an operator acted, but neither who nor why. */
const byOperator = (
  dispute: Dispute,
  act: Act,
  now: Date,
  set: Partial<Dispute>,
  entries: readonly Entry[],
): Dispute => {
  const acted = timelineEntry(now, 'operator', 'operator', { internal: describeActor(act) });
  return withChange(dispute, now, set, [acted, ...entriesOf(entries, now)]);
};

const changed = (
  dispute: Dispute,
  { via, actor, providerRequestId, state }: DisputeFact,
  now: Date,
  set: Partial<Dispute>,
  ...entries: Entry[]
): Dispute => {
  const by = actor ?? dispute.provider;
  const reported = timelineEntry(now, via, by, { detail: state, providerRequestId });
  return withChange(dispute, now, set, [reported, ...entriesOf(entries, now)]);
};

const entriesOf = (entries: readonly Entry[], now: Date): Dispute['timeline'] =>
  entries.map(([type, detail]) => timelineEntry(now, type, 'bursar', { detail }));

const withChange = (
  dispute: Dispute,
  now: Date,
  set: Partial<Dispute>,
  added: Dispute['timeline'],
): Dispute => ({
  ...dispute,
  ...set,
  version: dispute.version + 1,
  updated_at: now,
  timeline: [...dispute.timeline, ...added],
});
