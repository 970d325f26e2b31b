import type { FactSource } from '../../core/instructions/fact.js';
import { timelineEntry, type TimelineType } from '../../core/instructions/timeline.js';
import type { Verdict } from '../../core/instructions/transition.js';
import type { Posting } from '../../core/ledger/posting.js';
import { payReceivable } from '../../core/ledger/receivable.js';
import type { Wallet } from '../../core/ledger/wallet.js';
import type { Dispute, DisputeStatus } from './dispute.js';
import { openPosting, takePosting, wonPosting } from './postings.js';

/** A provider's report about a dispute. */
export type DisputeFact = FactSource & {
  state: DisputeStatus;
  amountMinor: bigint;
  currency: string;
  funds: Dispute['funds'];
  reason: string | null;
  dueAt: Date | null;
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

const OWES = 'the wallet could not cover this dispute: the tenant owes the rest';
const BEYOND = 'more is disputed and refunded than was paid';

/**
 * Opens a dispute: the payer's money goes to the account of disputes, or to clearing if the provider has taken it. It is a
 * fact that money is demanded, so it is booked whatever the wallet has. `leftMinor`: the part of the charge that is neither
 * refunded nor disputed.
 */
export function openDispute(
  dispute: Dispute,
  fact: DisputeFact,
  now: Date,
  { wallet, leftMinor }: { wallet: WalletBalances; leftMinor: bigint },
): Transition {
  const { amount_minor: amountMinor } = dispute;
  const paysMinor = wallet.availableMinor < amountMinor ? wallet.availableMinor : amountMinor;
  const owedMinor = amountMinor - (paysMinor > 0n ? paysMinor : 0n);
  const reason = owedMinor > 0n ? OWES : leftMinor < amountMinor ? BEYOND : null;
  return {
    verdict: reason === null ? 'applied' : 'attention',
    next: {
      ...dispute,
      reason: fact.reason,
      due_at: fact.dueAt,
      attention: reason === null ? null : { since: now, reason },
    },
    postings: [openPosting(dispute, now, { funds: dispute.funds, owedMinor })],
    availableMinor: owedMinor - amountMinor,
    receivableMinor: owedMinor,
    disputedMinor: amountMinor,
  };
}

/**
 * The state machine of disputes: pure. Facts may come in any order and any number. `won` and `lost` are final; the amount
 * stays with its account until then, or goes to clearing when the provider takes it.
 */
export function transitionDispute(
  dispute: Dispute,
  fact: DisputeFact,
  now: Date,
  wallet: WalletBalances,
): Transition {
  const idle = { postings: [], availableMinor: 0n, receivableMinor: 0n, disputedMinor: 0n };
  const same = { next: dispute, ...idle };
  const contradiction = findContradiction(dispute, fact);
  if (contradiction !== null) {
    if (dispute.attention?.reason === contradiction) return { verdict: 'unchanged', ...same };
    const attention = { since: now, reason: contradiction };
    const next = changed(dispute, fact, now, { attention }, ['attention_raised', contradiction]);
    return { verdict: 'attention', ...same, next };
  }
  if (dispute.status !== 'open') return { verdict: 'unchanged', ...same };
  const decided = {
    decided_at: now,
    ...(dispute.attention?.reason === OWES && { attention: null }),
  };
  switch (fact.state) {
    case 'won': {
      const { funds, amount_minor: amountMinor } = dispute;
      const { repaidMinor, restMinor } = payReceivable(wallet, amountMinor);
      return {
        verdict: 'applied',
        next: changed(dispute, fact, now, { status: 'won', ...decided }, [
          'credited',
          'the dispute is won, and the amount is in the wallet again',
        ]),
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
        next: changed(dispute, fact, now, { status: 'lost', funds: 'taken', decided_at: now }, [
          'captured',
          'the dispute is lost',
        ]),
        postings: dispute.funds === 'with_us' ? [takePosting(dispute, now)] : [],
      };
    case 'open': {
      if (dispute.funds === 'taken' || fact.funds === 'with_us') {
        return { verdict: 'unchanged', ...same };
      }
      return {
        ...same,
        verdict: 'applied',
        next: changed(dispute, fact, now, { funds: 'taken' }, [
          'captured',
          'the provider has taken the amount while the dispute is open',
        ]),
        postings: [takePosting(dispute, now)],
      };
    }
  }
}

/** The reason why a report cannot be right, or null. */
function findContradiction(dispute: Dispute, { state, ...fact }: DisputeFact): string | null {
  if (fact.currency !== dispute.currency) return 'the provider reports another currency';
  if (fact.amountMinor !== dispute.amount_minor) return 'the provider reports another amount';
  if (dispute.status === 'open' || state === 'open' || state === dispute.status) return null;
  return `the provider reports as ${state} what it had reported as ${dispute.status}`;
}

function changed(
  dispute: Dispute,
  { via, actor, providerRequestId, state }: DisputeFact,
  now: Date,
  set: Partial<Dispute>,
  [type, detail]: [TimelineType, string],
): Dispute {
  return {
    ...dispute,
    ...set,
    version: dispute.version + 1,
    updated_at: now,
    timeline: [
      ...dispute.timeline,
      timelineEntry(now, via, actor ?? dispute.provider, { detail: state, providerRequestId }),
      timelineEntry(now, type, 'bursar', { detail }),
    ],
  };
}
