import { collection } from '../../core/commit/collection.js';
import { START_WITHIN_MS } from '../../core/instructions/instruction.js';
import type { SavedMethod } from '../../core/providers/payment-provider.js';
import type { TokenSetup } from './setup.js';
import { supervisionIndexes } from '../../platform/database/indexes.js';

/** The paying customer. E-mail and name are personal data: only the provider gets them. */
export type Customer = { id: string; email: string; name: string | null };

/** An unbound token has no authorization yet; a revoked one can't be charged any more. */
type TokenStatus = 'unbound' | 'active' | 'revoked';

/** A saved payment method. It contains no card number: the provider charges it by its own authorization. */
export type PaymentToken = {
  _id: string;
  tenant_id: string;
  version: number;
  /** Number of events so far. Absent before the first one. */
  event_sequence?: number;
  type: 'card' | 'bank_account';
  customer: Customer;
  status: TokenStatus;
  /** Absent for a token that a secret key made: no charge of a public key may name it. */
  made_by?: 'public_key';
  provider: string;
  /** The provider's reusable authorization, bound by a verified charge. As good as a key: never shown, never logged. */
  authorization: string | null;
  /** The authorization of a revoked token, until the provider has revoked it too. As secret as the other. */
  revoking: string | null;
  /** Further authorizations that the provider revokes after it, one after the other. Missing before the first. */
  revoking_later?: string[];
  /** The latest page on which the customer saves a method without paying. Null or missing before the first. */
  setup?: TokenSetup | null;
  /** The next check of the revocation or the page at the provider; null if there is none to make. */
  next_check_at: Date | null;
  /** The provider has not revoked the authorization for long. Null or missing otherwise. */
  attention?: { since: Date; reason: string } | null;
  /** The e-mail address that the method was saved under, if it is not the customer's: charges of it name this one. */
  method_email: string | null;
  /** The card's details, from its authorization. */
  brand: string | null;
  last4: string | null;
  /** The bank account. The account number is personal data. */
  bank_code: string | null;
  account_number: string | null;
  metadata: Record<string, unknown> | null;
  created_at: Date;
  updated_at: Date;
};

/**
 * Binds a saved method to the token. Returns null if the token is bound already or the method is not reusable.
 */
export function bindToken(
  token: PaymentToken,
  method: SavedMethod | null,
  now: Date,
): PaymentToken | null {
  if (token.status !== 'unbound' || !method?.reusable) return null;
  if (method.type !== token.type) return null;
  const { email } = method;
  return {
    ...withoutOpenSetup(token, { status: 'saved', failure: null }),
    status: 'active',
    authorization: method.code,
    method_email: email === token.customer.email ? null : email,
    brand: method.brand,
    last4: method.last4 ?? token.last4,
    bank_code: token.bank_code ?? method.bankCode,
    version: token.version + 1,
    updated_at: now,
  };
}

/** Ends an open page of the token: nothing is asked about it any more. */
function withoutOpenSetup(
  token: PaymentToken,
  end: Pick<TokenSetup, 'status' | 'failure'>,
): PaymentToken {
  const { setup = null } = token;
  if (setup === null || setup.status === 'saved' || setup.status === 'failed') return token;
  return { ...token, setup: { ...setup, url: null, ...end }, next_check_at: null };
}

/** Revokes the token, because the provider reports that its authorization is no longer valid. */
export const revokedToken = (token: PaymentToken, now: Date): PaymentToken => ({
  ...withoutOpenSetup(token, { status: 'failed', failure: 'token_revoked' }),
  status: 'revoked',
  authorization: null,
  method_email: null,
  version: token.version + 1,
  updated_at: now,
});

/**
 * Deletes a token for its tenant: nothing is charged any more from now on, and its provider is asked to revoke it too. If its
 * page is open, the provider is asked for a method that is still saved there.
 */
export function deletedToken(token: PaymentToken, now: Date): PaymentToken {
  const deleted = revokeAtProvider(revokedToken(token, now), token.authorization, now);
  return token.setup?.status === 'open' ? { ...deleted, next_check_at: checkSoon(now) } : deleted;
}

/**
 * Has the method revoked that a customer has left on a page although the token was revoked before. Returns null if there is
 * none, or if its revocation is awaited already. Each page of a token may leave another one.
 */
export function revokeLateMethod(
  token: PaymentToken,
  method: SavedMethod | null,
  now: Date,
): PaymentToken | null {
  if (token.status !== 'revoked' || !method?.reusable) return null;
  const { revoking, revoking_later: later = [] } = token;
  const { code } = method;
  if (revoking === code || later.includes(code)) return null;
  const next = { ...token, version: token.version + 1, updated_at: now };
  return revoking === null
    ? revokeAtProvider(next, code, now)
    : { ...next, revoking_later: [...later, code] };
}

const revokeAtProvider = (token: PaymentToken, code: string | null, now: Date): PaymentToken => ({
  ...token,
  revoking: code,
  next_check_at: code === null ? null : checkSoon(now),
});

const checkSoon = (now: Date) => new Date(now.getTime() + START_WITHIN_MS);

/** The reason of attention for a token whose provider has not revoked it; `answer` is the kind of its latest answer. */
export const notRevoked = (answer: string): string =>
  `the provider has not revoked its authorization: ${answer}`;

/** The id of the workflow that opens a token's page and asks for its outcome. */
export const setupWorkflowId = (id: string) => `payment-token-setup/${id}`;

/** The id of the workflow that revokes a token at its provider. */
export const revocationWorkflowId = (id: string) => `payment-token-revocation/${id}`;

const string = { bsonType: 'string' };

/** The collection of payment tokens. */
export const paymentTokens = collection<PaymentToken>('payment_tokens', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'type', 'customer', 'status', 'provider'],
    properties: {
      tenant_id: string,
      type: { enum: ['card', 'bank_account'] },
      status: { enum: ['unbound', 'active', 'revoked'] },
      version: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, 'customer.id': 1, created_at: -1, _id: -1 } },
    // A release that did not seal authorizations has left some in clear: the first index finds these.
    { key: { authorization: 1 }, partialFilterExpression: { authorization: { $type: 'string' } } },
    {
      key: { authorization_index: 1 },
      partialFilterExpression: { authorization_index: { $type: 'string' } },
    },
    {
      key: { provider: 1, 'setup.handle': 1 },
      partialFilterExpression: { 'setup.handle': { $type: 'string' } },
    },
    ...supervisionIndexes,
  ],
  sealed: [
    { path: 'authorization', index: 'authorization_index' },
    { path: 'revoking', index: 'revoking_index' },
    { path: 'revoking_later' },
    { path: 'account_number' },
    { path: 'method_email' },
    { path: 'customer.email' },
    { path: 'customer.name' },
  ],
});
