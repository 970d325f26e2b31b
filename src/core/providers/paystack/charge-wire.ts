import { z } from 'zod';
import type { Decline } from '../payment-provider.js';
import {
  amount,
  currency,
  domain,
  numericId,
  optionalAmount,
  optionalId,
  plain,
  reference,
  text,
  time,
  word,
  wordOf,
} from './fields.js';

const year = z.coerce.number().int().min(2000).max(9999).nullish().catch(null);
const month = z.coerce.number().int().min(1).max(12).nullish().catch(null);
const shortText = z.string().min(1).max(200).nullish().catch(null);

/**
 * A saved payment method: `{}` if there is none. The card's fields are null for a mandate, `card_type` may end in a space,
 * `last4` may be `X553`, and `reusable` is missing in old events, which means that it is not.
 */
const authorization = z
  .looseObject({
    authorization_code: z.string().regex(/^AUTH_[0-9A-Za-z]{1,64}$/),
    last4: z
      .string()
      .regex(/^[0-9Xx*]{4}$/)
      .nullish()
      .catch(null),
    exp_month: month,
    exp_year: year,
    channel: text,
    card_type: text,
    brand: text,
    bank: shortText,
    reusable: z.boolean().catch(false).default(false),
    receiver_bank_account_number: text,
  })
  .nullish()
  .catch(null);

const customer = z
  .looseObject({ email: z.string().min(3).max(320).nullish().catch(null) })
  .nullish()
  .catch(null);

/** Our note in the metadata of a transaction: how it was started. */
export const METADATA_KEY = 'bursar_charge';

/**
 * How a transaction was started, from its metadata: `""`, null, `0`, an object or JSON in a string. Without our note it
 * counts as a page, because a failed attempt on a page ends nothing.
 */
const startedBy = z
  .unknown()
  .optional()
  .transform((value): 'page' | 'saved_method' => {
    const found = z.looseObject({ [METADATA_KEY]: z.string() }).safeParse(parsedText(value));
    return found.success && found.data[METADATA_KEY] === 'saved_method' ? 'saved_method' : 'page';
  });

function parsedText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

/** A transaction, as the answers about it and its event have it. */
export const transactionData = z.looseObject({
  id: optionalId,
  reference,
  status: word,
  amount,
  requested_amount: optionalAmount,
  currency,
  domain,
  fees: optionalAmount,
  gateway_response: text,
  channel: text,
  authorization,
  customer,
  metadata: startedBy,
  paid_at: time,
  paidAt: time,
  created_at: time,
  createdAt: time,
});

/** A parsed transaction. */
export type Transaction = z.infer<typeof transactionData>;

/** The answer to the charge of a saved method whose customer must confirm it first. */
export const pausedData = z.looseObject({
  paused: z.literal(true),
  reference,
  authorization_url: z.url().max(2_000),
});

/** The answer with the address of a page. */
export const pageData = z.looseObject({
  authorization_url: z.url().max(2_000),
  access_code: z.string().regex(/^[0-9A-Za-z_-]{1,100}$/),
  reference,
});

/** The answer with the address at which a customer sets a mandate up. */
export const setupPageData = z.looseObject({
  redirect_url: z.url().max(2_000),
  reference,
  domain,
});

/** The state of a mandate. */
export const setupData = z.looseObject({
  authorization_code: z.string().regex(/^AUTH_[0-9A-Za-z]{1,64}$/),
  channel: text,
  bank: shortText,
  active: z.boolean(),
  customer,
  domain,
});

/** The status words of a transaction. */
const STATUSES = {
  success: 'succeeded',
  reversed: 'reversed',
  'reversal pending': 'reversed',
  failed: 'failed',
  abandoned: 'abandoned',
  ongoing: 'customer',
  pending: 'provider',
  processing: 'provider',
  queued: 'provider',
} as const;

const soft = (code: string): Decline => ({ code, decline: 'soft' });
const hard = (code: string): Decline => ({ code, decline: 'hard' });

/** The whole texts of `gateway_response`. */
const DECLINES: Readonly<Record<string, Decline>> = {
  'insufficient funds': soft('insufficient_funds'),
  declined: soft('card_declined'),
  'transaction declined': soft('card_declined'),
  'do not honour': soft('card_declined'),
  'do not honor': soft('card_declined'),
  'unable to process transaction': soft('card_declined'),
  'denied by fraud system': soft('card_declined'),
  'expired card': hard('expired_card'),
  'pickup card (stolen card)': hard('stolen_card'),
  'pickup card (lost card)': hard('stolen_card'),
  'stolen card': hard('stolen_card'),
  'lost card': hard('stolen_card'),
  'invalid authorization code': hard('authorization_not_found'),
  'authorization code is invalid': hard('authorization_not_found'),
  'email address does not match authorization code': hard('authorization_not_found'),
  'email does not match authorization code. authorization may be inactive or belong to a different email. please confirm':
    hard('authorization_not_found'),
};

/** The decline that a failed transaction means. An unknown text may be about this attempt alone. */
export const declineOf = (gatewayResponse: string | null | undefined): Decline => {
  const key = plain(gatewayResponse);
  return (Object.hasOwn(DECLINES, key) && DECLINES[key]) || soft('provider_declined');
};

/**
 * The sums of a payment: the amount that was asked for, what Paystack added for itself, and its fee to us. A business may pass
 * fees on to customers: then `amount` is more than `requested_amount`, and `fees` has the surcharge in it.
 */
export function sumsOf({ amount: paid, requested_amount: requested, fees }: Transaction) {
  const amountMinor = requested != null && requested < paid ? requested : paid;
  const surchargeMinor = paid - amountMinor;
  const rest = fees == null ? null : fees - surchargeMinor;
  return { amountMinor, surchargeMinor, feeMinor: rest !== null && rest >= 0n ? rest : null };
}

/** The reusable method that a paid transaction leaves, with the e-mail under which it was saved; or null. */
export function savedMethodOf({ authorization: left, customer: payer }: Transaction) {
  const email = payer?.email ?? null;
  if (!left?.reusable || email === null) return null;
  const isCard = left.channel === 'card';
  return {
    code: left.authorization_code,
    type: isCard ? ('card' as const) : ('bank_account' as const),
    brand: isCard ? brandOf(left.brand ?? left.card_type) : null,
    last4: left.last4 != null && /^[0-9]{4}$/.test(left.last4) ? left.last4 : null,
    expiryMonth: left.exp_month ?? null,
    expiryYear: left.exp_year ?? null,
    bankCode: null,
    bankName: left.bank ?? null,
    reusable: true,
    email,
  };
}

const brandOf = (brand: string | null | undefined): string | null => {
  const name = plain(brand).replaceAll(/[ -]+/g, '_');
  return /^[a-z_]{1,30}$/.test(name) ? name : null;
};

/** The state of a transaction. A page stays open after a decline; the charge of a saved method has ended with it. */
export function chargeState(transaction: Transaction) {
  const { status, metadata: of } = transaction;
  if (!Object.hasOwn(STATUSES, status)) {
    return { kind: 'unknown', reason: 'unrecognized', ...wordOf(status) } as const;
  }
  const outcome = STATUSES[status as keyof typeof STATUSES];
  switch (outcome) {
    case 'succeeded':
      return {
        kind: 'succeeded',
        ...sumsOf(transaction),
        currency: transaction.currency,
        method: savedMethodOf(transaction),
      } as const;
    case 'reversed':
      return { kind: 'reversed' } as const;
    case 'failed': {
      const decline = declineOf(transaction.gateway_response);
      return of === 'page'
        ? pending('customer', decline)
        : ({ kind: 'declined', ...decline } as const);
    }
    case 'abandoned':
      return of === 'page' ? ({ kind: 'abandoned' } as const) : pending('provider');
    case 'customer':
    case 'provider':
      return pending(outcome);
  }
}

const pending = (awaits: 'customer' | 'provider', lastDecline: Decline | null = null) =>
  ({ kind: 'pending', awaits, redirect: null, lastDecline }) as const;

/** The numeric id of a transaction, by which disputes are listed. */
export const transactionId = z.looseObject({ id: numericId, domain });

/** The method that an active mandate leaves. */
export const savedMethodOfSetup = (mandate: z.infer<typeof setupData>) => ({
  code: mandate.authorization_code,
  type: 'bank_account' as const,
  brand: null,
  last4: null,
  expiryMonth: null,
  expiryYear: null,
  bankCode: null,
  bankName: mandate.bank ?? null,
  reusable: true,
  email: mandate.customer?.email ?? null,
});
