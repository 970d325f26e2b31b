import { cardAuthorizations } from '../../src/capabilities/card-authorizations/record.js';
import type { CardDisputeFact } from '../../src/capabilities/card-disputes/facts.js';
import { cardDisputes, newCardDispute } from '../../src/capabilities/card-disputes/record.js';
import { cards } from '../../src/capabilities/cards/record.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import type { InstructionFact } from '../../src/core/instructions/fact.js';
import { accounts } from '../../src/core/ledger/posting.js';
import {
  authorizationFactMutation,
  decideAuthorizationMutation,
  keyOf,
  stateWith,
  TERMS,
} from './authorizations.js';
import { CARD, openCard } from './card-record.js';
import { balances, run } from './decisions.js';
import type { AnyMutation } from './mutations.js';
import { byProvider, NOW } from './transfers.js';

/** Amount on the card before the payment. */
export const CARD_HAD = 5_000n;
/** Amount in the wallet before the payment. */
export const WALLET_HAD = 500n;
/** The card and the wallet pay 5,500 of it; the tenant owes the rest. */
export const CLEARED = 6_000n;

/** A payment that has taken more than there was, and whose dispute waits for the issuer. */
export function disputed(
  amountMinor: bigint | null = null,
  card = openCard({ available_minor: CARD_HAD }),
) {
  const paid = run(stateWith(card, WALLET_HAD), [
    [decideAuthorizationMutation({ amountMinor: 4_000n })],
    [authorizationFactMutation('cleared', { minor: CLEARED, at: 1 })],
  ]).state;
  return dispute(paid, amountMinor);
}

/** Raises a dispute of the payment; null: of all that is left of it. */
export function dispute(state: Snapshot, amountMinor: bigint | null, submissions = 0) {
  const authorization = state.records.get(cardAuthorizations, keyOf('auth_1').id);
  if (!authorization) throw new Error('there is no payment');
  const words = { reason: 'fraud', explanation: 'not ours', transactionReference: null } as const;
  const made = newCardDispute(authorization, words, NOW);
  const operation = { ...made.operation, submissions };
  const input = { ...made, operation, amountMinor, claim: null, tenantId: 'ten_a' };
  const accepted = run(state, [[{ kind: 'acceptCardDispute', ...input }]]);
  return { ...accepted, id: made.dispute._id, operation: made.operation._id };
}

/** The mutation that applies reports of the issuer. */
export const reports = (id: string, ...facts: CardDisputeFact[]): AnyMutation => ({
  kind: 'applyCardDisputeFacts',
  tenantId: 'ten_a',
  id,
  source: byProvider,
  facts,
  terms: TERMS,
});

/** The mutation that applies the outcome of an operation of the dispute. */
export const outcome = (id: string, operation: string, fact: InstructionFact): AnyMutation => ({
  kind: 'applyCardDisputeFacts',
  tenantId: 'ten_a',
  id,
  source: byProvider,
  facts: [],
  operation,
  fact,
  terms: TERMS,
});

/** A report of the issuer; `at` in seconds gives the order of the real events. */
export const said = (
  kind: CardDisputeFact['kind'],
  { minor = 0n, at = 0, key }: { minor?: bigint; at?: number; key?: string } = {},
): CardDisputeFact => ({
  key: key ?? kind,
  kind,
  amount_minor: minor,
  code: kind === 'refused' ? 'dispute_refused' : null,
  at: new Date(NOW.getTime() + at * 1_000),
});

/** A dispute and the money after its commits. */
export function seen(state: Snapshot, id: string) {
  const books = balances(state);
  const wallet = state.wallets.get('ten_a');
  const one = state.records.get(cardDisputes, id);
  return {
    status: one?.status,
    credited: one?.credited_minor ?? 0n,
    card: state.records.get(cards, CARD)?.available_minor ?? 0n,
    available: wallet?.availableMinor ?? 0n,
    owed: wallet?.receivableMinor ?? 0n,
    network: books.get(accounts.network('sandbox-bank')) ?? 0n,
    books,
  };
}
