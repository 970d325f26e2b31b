import { charges, type Charge } from '../../src/capabilities/charges/record.js';
import { checkDispute } from '../../src/capabilities/disputes/audit.js';
import { disputeId, disputes, type Dispute } from '../../src/capabilities/disputes/record.js';
import type { Act } from '../../src/core/audit/entry.js';
import type { DisputeFact } from '../../src/capabilities/disputes/transitions.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import { pageCharge, paid, sent, transition } from '../support/charge-facts.js';
import { balances, run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { byProvider, emptySnapshot } from '../support/transfers.js';
import { storedPostings } from '../support/stored-postings.js';

const CASE = 'case_1';
/** The disputed amount. */
export const AMOUNT = 200_000n;
/** A provider's report about the dispute. */
export const fact = (changes: Partial<DisputeFact> = {}): DisputeFact => ({
  ...byProvider,
  state: 'open',
  amountMinor: AMOUNT,
  currency: 'NGN',
  funds: 'with_us',
  reason: 'not_recognized',
  dueAt: null,
  ...changes,
});

/** A charge that is paid. */
export const paidCharge = (): Charge =>
  transition(sent(pageCharge()), paid({ feeMinor: null })).next;

/**
 * An act of an operator on the dispute: a decision, or null for the acknowledgement of its attention. `seen`: the attention that
 * the operator has seen, if it is not the present one.
 */
type Acted = {
  decision: { outcome: 'won' | 'lost'; amountMinor: bigint } | null;
  seen?: string | null;
};

let acts = 0;
const actOf = (target: string): Act => ({
  id: `act_${(acts += 1)}`,
  actor: { operator: 'opr_ada', name: 'Ada', roles: ['operator'] },
  action: 'disputes.decide',
  target,
  tenantId: 'ten_a',
  reason: 'the desk says so',
  requestId: null,
  approval: null,
});

/** Applies facts and acts to the dispute of a charge, each in a commit of its own. `problems`: those of the audit after each. */
export function apply(
  facts: readonly (DisputeFact | Acted)[],
  {
    availableMinor = 300_000n,
    charge = paidCharge(),
    dispute,
  }: { availableMinor?: bigint; charge?: Charge; dispute?: Dispute } = {},
) {
  let state: Snapshot = emptySnapshot();
  state.records.set(charges, charge);
  if (dispute) state.records.set(disputes, dispute);
  state.wallets.set('ten_a', { ...emptyWallet('ten_a'), availableMinor });
  const id = disputeId(charge.provider, CASE);
  const steps = facts.map((of) => {
    const seen = state.records.get(disputes, id)?.attention?.reason ?? null;
    const about = { tenantId: 'ten_a', id, charge: charge._id };
    const command: AnyMutation =
      'decision' in of
        ? { kind: 'actOnDispute', ...about, act: actOf(id), seen, ...of }
        : { kind: 'applyDisputeFact', ...about, providerDisputeId: CASE, attempt: 1, fact: of };
    const { outcomes, commits, ...done } = run(state, [[command]]);
    state = done.state;
    return { outcomes, commits, problems: problemsOf(state, id) };
  });
  const { availableMinor: available, receivableMinor: owed } = state.wallets.get('ten_a') ?? {};
  return {
    dispute: state.records.get(disputes, id),
    charge: state.records.get(charges, charge._id),
    wallet: { available, owed },
    accounts: balances(state),
    verdicts: steps
      .flatMap(({ outcomes }) => outcomes)
      .map((outcome) => ('verdict' in outcome ? outcome.verdict : null)),
    events: steps.flatMap(({ commits }) =>
      commits.flatMap(({ events }) => events.map(({ name }) => name)),
    ),
    problems: steps.flatMap(({ problems }) => problems),
  };
}

/** The problems that the audit of the ledger finds in a dispute. */
function problemsOf(state: Snapshot, id: string): string[] {
  const dispute = state.records.get(disputes, id);
  const postings = storedPostings([...state.postings.values()]);
  return dispute ? checkDispute({ ...dispute, postings }) : [];
}
