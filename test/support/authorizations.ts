import { type Named } from './mutations.js';
import { authorizationId } from '../../src/capabilities/card-authorizations/card-authorization.js';
import type {
  ApplyCardAuthorizationFact,
  AuthorizationKey,
  DecideCardAuthorization,
} from '../../src/capabilities/card-authorizations/mutations.js';
import { cards, type Card } from '../../src/capabilities/cards/card.js';
import { accounts, posting } from '../../src/core/ledger/posting.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import type { AuthorizationRequest } from '../../src/core/providers/card-issuer.js';
import { CARD } from './card-record.js';
import { emptySnapshot, NOW } from './transfers.js';

const TENANT = 'ten_a';

/** An authorization request of the issuer. */
export function request(changes: Partial<AuthorizationRequest> = {}): AuthorizationRequest {
  return {
    token: 'auth_1',
    card: 'card_1',
    amountMinor: 5_000n,
    currency: 'NGN',
    channel: 'pos',
    merchant: { name: 'Mama Put', category: '5812', country: 'NG' },
    requestedAt: NOW,
    ...changes,
  };
}

/** The key of an authorization in the database. */
export const keyOf = (token: string): AuthorizationKey => ({
  tenantId: TENANT,
  id: authorizationId('sandbox-bank', token),
  card: CARD,
  provider: 'sandbox-bank',
  token,
});

/** The mutation that decides a request. */
export const decideAuthorizationMutation = (
  requested: Partial<AuthorizationRequest> = {},
  changes: Partial<DecideCardAuthorization> = {},
): Named<'decideCardAuthorization'> => ({
  kind: 'decideCardAuthorization',
  ...keyOf(request(requested).token),
  request: request(requested),
  authorizationRequestId: 'first',
  answerBy: new Date(NOW.getTime() + 1_500),
  holdMs: 60_000,
  ...changes,
});

/** The mutation that applies an issuer's event; `at` in seconds gives the order of the real events. */
export const authorizationFactMutation = (
  kind: ApplyCardAuthorizationFact['fact']['kind'],
  given: { key?: string; at?: number; minor?: bigint; token?: string } = {},
): Named<'applyCardAuthorizationFact'> => {
  const { key = kind, at = 0, minor = 0n, token = 'auth_1' } = given;
  return {
    kind: 'applyCardAuthorizationFact',
    ...keyOf(token),
    fact: { key, kind, amount_minor: minor, at: new Date(NOW.getTime() + at * 1_000) },
    code: null,
    by: 'issuer',
  };
};

/** A snapshot with one tenant, one card, and the postings of their balances. */
export function stateWith(card: Card, walletMinor = 0n): Snapshot {
  const state = emptySnapshot();
  const wallet = { ...emptyWallet(TENANT), availableMinor: walletMinor };
  state.records.set(cards, card);
  state.wallets.set(TENANT, wallet);
  const given = posting('given', TENANT, NOW, [
    { account: accounts.external, amountMinor: -walletMinor - card.available_minor - 1n },
    { account: accounts.available(TENANT), amountMinor: walletMinor },
    { account: accounts.cardAvailable(CARD), amountMinor: card.available_minor },
    { account: 'the rest of the world', amountMinor: 1n },
  ]);
  state.postings.set(given.id, given);
  return state;
}
