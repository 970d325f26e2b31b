import { failureWith } from '../../core/instructions/instruction.js';
import type { SavedMethod } from '../../core/providers/payment-provider.js';
import { bindToken, revokeLateMethod, type PaymentToken } from './record.js';

/** The page on which a customer saves a payment method without paying. A token has one at a time. */
export type TokenSetup = {
  /** Counted from 1: each page has a reference of its own at the provider, `<token>-<number>`. */
  number: number;
  /** `pending`: its page is not open yet. `open`: it waits for the customer. */
  status: 'pending' | 'open' | 'saved' | 'failed';
  return_url: string | null;
  /** The page; null before it is open, and once it is over. */
  url: string | null;
  /** The provider's own id of the page, where it gave one. */
  handle: string | null;
  /** The code of a failure. */
  failure: string | null;
  requested_at: Date;
  expires_at: Date;
};

/** A fact about a page, by its number. */
export type SetupFact =
  | { kind: 'opened'; url: string; handle: string | null; expiresAt: Date | null }
  /** The address was lost, so nobody can have seen the page: another one is opened. */
  | { kind: 'page_lost' }
  | { kind: 'saved'; method: SavedMethod }
  | { kind: 'declined'; code: string }
  /** The customer's time is over. */
  | { kind: 'expired' };

/** Codes of failures: the provider's, and `cancelled`, `expired`, `token_revoked`, `method_not_reusable`. */
/** A failure with its message. An unknown code gets a general message. */
export const setupFailure = failureWith(
  {
    cancelled: 'The customer left without saving a payment method.',
    expired: 'The customer did not save a payment method in time.',
    token_revoked: 'The payment token was revoked.',
    method_not_reusable: 'The customer left a payment method that cannot be charged again.',
    setup_not_supported: 'The provider saves this kind of payment method with a payment only.',
  },
  'The provider saved no payment method.',
);

/** The reference of a page. An adapter converts it to the characters that its provider allows. */
export const setupReference = (
  { _id }: Pick<PaymentToken, '_id'>,
  { number }: Pick<TokenSetup, 'number'>,
): string => `${_id}-${number}`;

/** Returns the token and the number of a provider reference, or null if the reference is not of a page of ours. */
export function readSetupReference(reference: string): { id: string; number: number } | null {
  const found = /^(tok_[0-9a-z]{26})-([1-9][0-9]{0,3})$/.exec(reference);
  return found ? { id: String(found[1]), number: Number(found[2]) } : null;
}

/** A page that is awaited or open. */
export type OpenSetup = TokenSetup & { status: 'pending' | 'open' };

/** Returns the page that is awaited or open, or null. */
export const openSetup = ({ setup = null }: Pick<PaymentToken, 'setup'>): OpenSetup | null =>
  setup?.status === 'pending' || setup?.status === 'open' ? (setup as OpenSetup) : null;

/**
 * Returns the page that its provider is asked about, or null: one that is awaited or open, or one that was open when its token
 * was deleted, until the customer's time is over.
 */
export function awaitedSetup(token: PaymentToken): TokenSetup | null {
  const open = openSetup(token);
  if (open) return open;
  const { setup = null, status, revoking, next_check_at: nextCheck } = token;
  const isAsked = status === 'revoked' && revoking === null && nextCheck !== null;
  return isAsked ? setup : null;
}

/** Asks for a page. The token must be unbound and have none that is open. */
export function requestSetup(
  token: PaymentToken,
  { returnUrl, expiresAt, checkAt }: { returnUrl: string | null; expiresAt: Date; checkAt: Date },
  now: Date,
): PaymentToken {
  const setup: TokenSetup = {
    number: (token.setup?.number ?? 0) + 1,
    status: 'pending',
    return_url: returnUrl,
    url: null,
    handle: null,
    failure: null,
    requested_at: now,
    expires_at: expiresAt,
  };
  return changed(token, setup, checkAt, now);
}

/**
 * Applies a fact about a page; returns null if it changes nothing. A method that was saved binds an unbound token, whatever
 * page it was left on and however late it is told. A revoked token has it revoked at the provider.
 */
export function transitionSetup(
  token: PaymentToken,
  number: number,
  fact: SetupFact,
  now: Date,
): PaymentToken | null {
  const setup = openSetup(token);
  const present = setup?.number === number ? setup : null;
  switch (fact.kind) {
    case 'saved': {
      const bound = bindToken(token, fact.method, now);
      if (bound) return withSaved(bound, number);
      const revoked = revokeLateMethod(token, fact.method, now);
      return revoked ?? (present && failed(token, present, 'method_not_reusable', now));
    }
    case 'declined':
      return present ? failed(token, present, fact.code, now) : endAsking(token, number, now);
    case 'expired':
      if (!present) return endAsking(token, number, now);
      return present.expires_at <= now ? failed(token, present, 'expired', now) : null;
    case 'page_lost':
      if (present?.status !== 'pending') return null;
      return changed(token, { ...present, number: number + 1 }, token.next_check_at, now);
    case 'opened': {
      if (present?.status !== 'pending') return null;
      const { url, handle, expiresAt } = fact;
      const over = expiresAt && expiresAt < present.expires_at ? expiresAt : present.expires_at;
      const open = { ...present, status: 'open', url, handle, expires_at: over } as const;
      return changed(token, open, token.next_check_at, now);
    }
  }
}

/** Nothing is asked any more about the page of a deleted token. */
const endAsking = (token: PaymentToken, number: number, now: Date): PaymentToken | null => {
  const setup = awaitedSetup(token);
  return setup?.number === number && setup.expires_at <= now
    ? changed(token, setup, null, now)
    : null;
};

/** The token whose method was saved on its latest page, also if that had failed before. */
const withSaved = (token: PaymentToken, number: number): PaymentToken =>
  token.setup?.number === number
    ? { ...token, setup: { ...token.setup, status: 'saved', url: null, failure: null } }
    : token;

const failed = (token: PaymentToken, setup: TokenSetup, code: string, now: Date): PaymentToken =>
  changed(token, { ...setup, status: 'failed', url: null, failure: code }, null, now);

const changed = (
  token: PaymentToken,
  setup: TokenSetup,
  checkAt: Date | null,
  now: Date,
): PaymentToken => ({
  ...token,
  setup,
  next_check_at: checkAt,
  version: token.version + 1,
  updated_at: now,
});
