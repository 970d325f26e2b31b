import { type Named } from './mutations.js';
import { authorizationId } from '../../src/capabilities/card-authorizations/record.js';
import type {
  AuthorizationKey,
  AuthorizationTerms,
  DecideCardAuthorization,
} from '../../src/capabilities/card-authorizations/mutations.js';
import { cards, type Card } from '../../src/capabilities/cards/record.js';
import { accounts, posting } from '../../src/core/ledger/posting.js';
import { emptyWallet } from '../../src/core/ledger/wallet.js';
import type { Snapshot } from '../../src/core/commit/unit-of-work.js';
import type { AuthorizationFact } from '../../src/capabilities/card-authorizations/facts.js';
import { factOf } from '../../src/capabilities/card-authorizations/store.js';
import type {
  AuthorizationRequest,
  AuthorizationState,
} from '../../src/core/providers/card-issuer.js';
import { CARD } from './card-record.js';
import { emptySnapshot, NOW } from './transfers.js';

const TENANT = 'ten_a';

/** The terms of authorizations in tests. */
export const TERMS: AuthorizationTerms = {
  holdMs: 60_000,
  overClearingPercent: 20,
  overClearingMinor: 500_000n,
  mostReports: 1_000,
};

/** An authorization request of the issuer. */
export function request(changes: Partial<AuthorizationRequest> = {}): AuthorizationRequest {
  return {
    token: 'auth_1',
    messageId: 'msg_1',
    card: 'card_1',
    kind: 'authorization',
    basis: 'step',
    amountMinor: 5_000n,
    holdMinor: null,
    partialApproval: false,
    currency: 'NGN',
    channel: 'pos',
    merchant: { name: 'Mama Put', category: '5812', country: 'NG' },
    cashMinor: null,
    merchantAmount: null,
    initiator: null,
    holdUntil: null,
    answerBy: null,
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
  cardsDisabled: false,
  terms: TERMS,
  ...changes,
});

/** The mutation that applies an issuer's event; `at` in seconds gives the order of the real events. */
export const authorizationFactMutation = (
  kind: Exclude<AuthorizationState['kind'], 'approved'>,
  given: {
    key?: string;
    at?: number;
    minor?: bigint;
    token?: string;
    /** Of a clearing: more may follow; the network did not ask. */
    partial?: boolean;
    forced?: boolean;
    /** Of a decline: the message. */
    message?: string | null;
  } = {},
): Named<'applyCardAuthorizationFact'> => {
  const { key = kind, at = 0, minor = 0n, token = 'auth_1', partial = false } = given;
  const { message = 'msg_1', forced = false } = given;
  const fields = {
    declined: { message_id: message },
    cleared: { final: !partial, ...(forced && { forced: true }) },
    reversed: { whole: minor === 0n },
    expired: {},
    refunded: {},
    refund_reversed: {},
    corrected: {},
  };
  const time = new Date(NOW.getTime() + at * 1_000);
  const fact = { key, kind, amount_minor: minor, at: time, ...fields[kind] } as AuthorizationFact;
  return {
    kind: 'applyCardAuthorizationFact',
    ...keyOf(token),
    fact,
    code: null,
    by: 'issuer',
    terms: TERMS,
  };
};

/** The mutation that withdraws a request which was answered with a decline: our void of its approval. */
export const voidMutation = (
  requested: Partial<AuthorizationRequest> = {},
  { requestId = 'first', at = 0 } = {},
): Named<'applyCardAuthorizationFact'> => ({
  ...authorizationFactMutation('declined', {
    key: `voided-${request(requested).messageId}-${requestId}`,
    message: request(requested).messageId,
    at,
  }),
  code: 'deadline_exceeded',
  by: { withdrawsRequestId: requestId, request: request(requested) },
});

/** The mutation that applies an approval in our place. */
export const standInMutation = (
  minor: bigint,
  { message = 'msg_1', at = 0, token = 'auth_1' } = {},
): Named<'applyCardAuthorizationFact'> => ({
  kind: 'applyCardAuthorizationFact',
  ...keyOf(token),
  fact: factOf(
    { kind: 'approved', messageId: message, amountMinor: minor, standIn: 'network' },
    new Date(NOW.getTime() + at * 1_000),
  ),
  code: null,
  by: 'issuer',
  terms: TERMS,
});

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
