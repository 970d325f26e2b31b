import { toWireAmount } from '../../../shared/money.js';
import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import type { ChargePageRequest, SetupRequest, TokenChargeRequest } from '../payment-provider.js';
import { mismatchOf, otherEnvironment, unreadable, type Data } from './client.js';
import {
  chargeState,
  METADATA_KEY,
  pageData,
  pausedData,
  savedMethodOfSetup,
  setupData,
  setupPageData,
  transactionData,
} from './charge-wire.js';
import { chargeReferences } from './references.js';

/** The bodies of requests about charges, and the reading of the answers. */

const { toTheirs } = chargeReferences;
/** The page is over after a day, unless the business has set a shorter time. */
const PAGE_LIVES_MS = 24 * 60 * 60 * 1000;

type Settings = Pick<PaystackSettings, 'url' | 'domain' | 'isOfficial'>;

/** The body of a request for a page. */
export const pageBody = (order: ChargePageRequest) => ({
  ...common(order),
  channels: [order.channel.type === 'card' ? 'card' : 'bank'],
  ...(order.returnUrl !== null && { callback_url: order.returnUrl }),
  metadata: noteOf('page', order.clientReference),
});

/** The body of the charge of a saved method. Here the metadata is a text. */
export const confirmBody = (order: TokenChargeRequest) => ({
  ...common(order),
  authorization_code: order.method,
  metadata: JSON.stringify(noteOf('saved_method', order.clientReference)),
});

/** The body of a request for a mandate. `bankCode`: Paystack's code of the bank. */
export const setupBody = (
  { customer, returnUrl }: SetupRequest,
  { account, bankCode }: { account: string; bankCode: string },
) => ({
  email: customer.email,
  channel: 'direct_debit',
  ...(returnUrl !== null && { callback_url: returnUrl }),
  account: { number: account, bank_code: bankCode },
});

const common = (order: ChargePageRequest | TokenChargeRequest) => ({
  email: order.customer.email,
  amount: toWireAmount(order.amountMinor),
  currency: order.currency,
  reference: toTheirs(order.reference),
});

const noteOf = (startedBy: 'page' | 'saved_method', clientReference: string) => ({
  [METADATA_KEY]: startedBy,
  client_reference: clientReference,
});

/** Reads the answer with a page. Its address counts only if it is Paystack's, because a customer pays there. */
export function readPage({ data }: Data, order: ChargePageRequest, settings: Settings) {
  const parsed = pageData.safeParse(data);
  if (!parsed.success) return unreadable();
  const { authorization_url: url, access_code: handle } = parsed.data;
  const wrong = mismatchOf(parsed.data, {
    reference: toTheirs(order.reference),
    domain: settings.domain,
  });
  if (wrong) return wrong;
  if (!isPageOf(url, settings)) return { kind: 'unknown', reason: 'mismatch' } as const;
  const expiresAt = new Date(order.requestedAt.getTime() + PAGE_LIVES_MS);
  return { kind: 'page', url, handle, expiresAt } as const;
}

/** Reads the answer with the page of a mandate. The reference of a mandate is Paystack's: it is the handle. */
export function readSetupPage({ data }: Data, settings: Settings) {
  const parsed = setupPageData.safeParse(data);
  if (!parsed.success) return unreadable();
  const { redirect_url: url, reference: handle } = parsed.data;
  const elsewhere = otherEnvironment(parsed.data.domain, settings.domain);
  if (elsewhere) return elsewhere;
  if (!isPageOf(url, settings)) return { kind: 'unknown', reason: 'mismatch' } as const;
  return { kind: 'page', url, handle, expiresAt: null } as const;
}

/** Reads the state of a mandate. */
export function readSetup({ data }: Data, { domain }: Pick<Settings, 'domain'>) {
  const parsed = setupData.safeParse(data);
  if (!parsed.success) return unreadable();
  const elsewhere = otherEnvironment(parsed.data.domain, domain);
  if (elsewhere) return elsewhere;
  return parsed.data.active
    ? ({ kind: 'saved', method: savedMethodOfSetup(parsed.data) } as const)
    : ({ kind: 'pending' } as const);
}

const DOMAINS = ['paystack.com', 'paystack.co'];

/** True for an https page of Paystack; beside another base URL, also for a page on its host. */
export function isPageOf(address: string, { url, isOfficial }: Settings): boolean {
  const page = new URL(address);
  const isTheirs = DOMAINS.some(
    (domain) => page.hostname === domain || page.hostname.endsWith(`.${domain}`),
  );
  if (page.protocol === 'https:' && isTheirs) return true;
  const base = new URL(url);
  const isAsSafe = page.protocol === 'https:' || page.protocol === base.protocol;
  return !isOfficial && isAsSafe && page.host === base.host;
}

/** Reads the state of a charge. On a page, the customer may make another attempt, also for the charge of a saved method. */
export function readCharge(
  { data }: Data,
  { reference, isOnPage }: { reference: string; isOnPage?: boolean },
  { domain }: Pick<Settings, 'domain'>,
) {
  const parsed = transactionData.safeParse(data);
  if (!parsed.success) return unreadable();
  const wrong = mismatchOf(parsed.data, { reference: toTheirs(reference), domain });
  if (wrong) return wrong;
  // A transaction may have lost its metadata.
  const startedBy = isOnPage ? ('page' as const) : ('saved_method' as const);
  return chargeState(
    isOnPage === undefined ? parsed.data : { ...parsed.data, metadata: startedBy },
  );
}

/**
 * Reads the answer to the charge of a saved method. It may want the customer after all. It does not name the amount that
 * was asked for: if another one was paid, a look-up tells which part of it is Paystack's surcharge.
 */
export function readConfirmation(found: Data, order: TokenChargeRequest, settings: Settings) {
  const paused = pausedData.safeParse(found.data);
  if (paused.success) return readPaused(paused.data, order, settings);
  const parsed = transactionData.safeParse(found.data);
  if (!parsed.success) return unreadable();
  const { data } = parsed;
  const wrong = mismatchOf(data, { reference: toTheirs(order.reference), domain: settings.domain });
  if (wrong) return wrong;
  const isOther = data.requested_amount == null && data.amount !== order.amountMinor;
  const state = chargeState({ ...data, metadata: 'saved_method' });
  return state.kind === 'succeeded' && isOther ? PENDING : state;
}

const PENDING = {
  kind: 'pending',
  awaits: 'provider',
  redirect: null,
  lastDecline: null,
} as const;

function readPaused(
  { reference, authorization_url: redirect }: { reference: string; authorization_url: string },
  order: TokenChargeRequest,
  settings: Settings,
) {
  const wrong = mismatchOf(
    { reference },
    { reference: toTheirs(order.reference), domain: settings.domain },
  );
  if (wrong) return wrong;
  if (!isPageOf(redirect, settings)) return { kind: 'unknown', reason: 'mismatch' } as const;
  return { ...PENDING, awaits: 'customer', redirect } as const;
}
