// Made by `npm run openapi` from the operations: change those.

/** Every code that the service refuses with. */
export type ErrorCode =
  | 'unauthorized'
  | 'invalid_key'
  | 'expired_key'
  | 'wrong_environment'
  | 'invalid_signature'
  | 'forbidden'
  | 'ip_not_allowed'
  | 'feature_not_enabled'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_error'
  | 'insufficient_balance'
  | 'invalid_account'
  | 'limit_exceeded'
  | 'duplicate_reference'
  | 'idempotency_key_reused'
  | 'invalid_state'
  | 'provider_declined'
  | 'rate_limit_exceeded'
  | 'internal_error'
  | 'service_unavailable';

export type NewCard = {
  /** Your own id of who is to hold it. */
  customer_id: string;
  type: 'virtual' | 'physical';
  /**
   * `prepaid` spends what it was funded with; `jit` does so too, and a payment that this does not cover is held in the wallet, all of it.
   * @default "prepaid"
   */
  funding?: 'prepaid' | 'jit';
  /** @default "NGN" */
  currency?: 'NGN';
  /** To be printed on it. */
  name?: string;
  /** Your own data, stored with it. At most 8192 bytes of JSON, 50 keys over all levels, and 5 levels. A card number is refused, in a text, a name or the integer part of a number: 13 to 19 digits that begin with 3 to 6 and pass the Luhn check. So is an unpaired surrogate (`\ud800` alone). */
  metadata?: { [name: string]: unknown };
};

export type CardAutoReloadSettings = {
  enabled: boolean;
  /** Kobo. Spending that leaves the card less than this reloads it. */
  threshold_minor: number;
  /** Kobo. These are the bounds of a tenant that has not agreed on others. */
  amount_minor: number;
  /** Kobo that reloads may take of the wallet on one day (Africa/Lagos); at least one of them. */
  daily_cap_minor: number;
};

/** Fields that are not named here are stored as metadata, with the fields of `metadata`. At most 8192 bytes of JSON, 50 keys over all levels, and 5 levels. A card number is refused, in a text, a name or the integer part of a number: 13 to 19 digits that begin with 3 to 6 and pass the Luhn check. So is an unpaired surrogate (`\ud800` alone). */
export type CardControl = {
  /** Why, for whoever reads it later. */
  reason?: string;
  /** Your own name for it. The issuer gets it too. */
  request_id?: string;
  /** Your own data, stored with it. At most 8192 bytes of JSON, 50 keys over all levels, and 5 levels. A card number is refused, in a text, a name or the integer part of a number: 13 to 19 digits that begin with 3 to 6 and pass the Luhn check. So is an unpaired surrogate (`\ud800` alone). */
  metadata?: { [name: string]: unknown };
};

/** Fields that are not named here are stored as metadata, with the fields of `metadata`. At most 8192 bytes of JSON, 50 keys over all levels, and 5 levels. A card number is refused, in a text, a name or the integer part of a number: 13 to 19 digits that begin with 3 to 6 and pass the Luhn check. So is an unpaired surrogate (`\ud800` alone). */
export type CardFunding = {
  /** Kobo. These are the bounds of a tenant that has not agreed on others. */
  amount_minor: number;
  /** @default "NGN" */
  currency?: 'NGN';
  /** Your own name for it, unique for ever among the fundings of the card. */
  transaction_reference?: string;
  /**
   * Older name of `transaction_reference`.
   * @deprecated
   */
  reference?: string;
  /** Why, for whoever reads it later. */
  reason?: string;
  /** Your own id of the request. */
  request_id?: string;
  /** Your own data, stored with it. At most 8192 bytes of JSON, 50 keys over all levels, and 5 levels. A card number is refused, in a text, a name or the integer part of a number: 13 to 19 digits that begin with 3 to 6 and pass the Luhn check. So is an unpaired surrogate (`\ud800` alone). */
  metadata?: { [name: string]: unknown };
};

export type NewCardSecurity = {
  channels: {
    online: boolean;
    pos: boolean;
    atm: boolean;
    contactless: boolean;
  };
  /** Kobo that one payment may be; null: no such limit. */
  per_transaction_limit_minor: number | null;
  /** Kobo that may be approved on one calendar day in Africa/Lagos; null: no such limit. */
  daily_limit_minor: number | null;
  /** Where the merchant may be, ISO 3166; empty: anywhere. */
  allowed_countries: string[];
  /** ISO 18245; empty: none. */
  blocked_merchant_categories: string[];
};

export type NewCharge = {
  /** Kobo that the customer pays. */
  amount_minor: number;
  /** @default "NGN" */
  currency?: 'NGN';
  /** `customer_action_required`: the customer pays on the provider’s page, where `next_action` leads. `merchant_initiated`: an active payment token is charged without the customer. */
  capture_mode: 'customer_action_required' | 'merchant_initiated';
  customer: Customer;
  /** What is charged (`merchant_initiated`, required), or what is bound by this charge. */
  payment_token_id?: string;
  /** Your own name for it, unique for ever; an id of ours if you give none. */
  reference?: string;
  /** What it is for. */
  description?: string;
  /** Where the provider’s page sends the customer in the end. */
  return_url?: string;
  /** Your own data, stored with it. At most 8192 bytes of JSON, 50 keys over all levels, and 5 levels. A card number is refused, in a text, a name or the integer part of a number: 13 to 19 digits that begin with 3 to 6 and pass the Luhn check. So is an unpaired surrogate (`\ud800` alone). */
  metadata?: { [name: string]: unknown };
} & (
  | {
      capture_mode?: 'customer_action_required';
    }
  | {
      /** What is charged (`merchant_initiated`, required), or what is bound by this charge. */
      payment_token_id: string;
      capture_mode?: 'merchant_initiated';
    }
);

/** Who pays. */
export type Customer = {
  /** Your own id of the customer. */
  id: string;
  /** Where the provider sends receipts. */
  email: string;
  name?: string;
};

export type NewRecurringCharge = {
  /** What is charged: an active token. */
  payment_token_id: string;
  /** Kobo that each period costs. */
  amount_minor: number;
  /** @default "NGN" */
  currency?: 'NGN';
  /** What periods are counted in. */
  interval: 'day' | 'week' | 'month' | 'year';
  /**
   * How many of them a period is, three years at the most: 1095 days, 156 weeks, 36 months, 3 years.
   * @default 1
   */
  interval_count?: number;
  /**
   * IANA name of the time zone whose calendar and time of day count.
   * @default "Africa/Lagos"
   */
  timezone?: string;
  /** When the first period begins and is charged: now if not given. Not in the past, and within five years. */
  start_at?: string;
  /** No period begins at this time or later; before 2101. Instead of `count`. */
  end_at?: string;
  /** How many periods there are. Instead of `end_at`. */
  count?: number;
  /** What it is for: of each charge, too. */
  description?: string;
  /** Your own data, stored with it. At most 8192 bytes of JSON, 50 keys over all levels, and 5 levels. A card number is refused, in a text, a name or the integer part of a number: 13 to 19 digits that begin with 3 to 6 and pass the Luhn check. So is an unpaired surrogate (`\ud800` alone). */
  metadata?: { [name: string]: unknown };
};

export type NewRefund = {
  /** Your reference of the charge. */
  charge_reference: string;
  /** Kobo that the customer gets back; all that is left if it is not given. */
  amount_minor?: number;
  /** That of the charge. */
  currency?: 'NGN';
  /** Why, for whoever reads it later. */
  reason?: string;
  /** Your own name for it, unique for ever; an id of ours if you give none. */
  reference?: string;
};

export type NewBankAccountToken = {
  customer: Customer;
  /** Your own data, stored with it. At most 8192 bytes of JSON, 50 keys over all levels, and 5 levels. A card number is refused, in a text, a name or the integer part of a number: 13 to 19 digits that begin with 3 to 6 and pass the Luhn check. So is an unpaired surrogate (`\ud800` alone). */
  metadata?: { [name: string]: unknown };
  /** NUBAN account number. */
  account_number: string;
  /** CBN or NIP code, see `GET /transfers/banks`. */
  bank_code: string;
};

export type NewCardToken = {
  customer: Customer;
  /** Your own data, stored with it. At most 8192 bytes of JSON, 50 keys over all levels, and 5 levels. A card number is refused, in a text, a name or the integer part of a number: 13 to 19 digits that begin with 3 to 6 and pass the Luhn check. So is an unpaired surrogate (`\ud800` alone). */
  metadata?: { [name: string]: unknown };
};

export type NewTransfer = {
  /** Kobo. These are the bounds of a tenant that has not agreed on others. */
  amount_minor: number;
  /** NUBAN account number. */
  recipient_account?: string;
  /** CBN or NIP code, see `GET /transfers/banks`. */
  recipient_bank_code?: string;
  /**
   * Older name of `recipient_account`.
   * @deprecated
   */
  destination_account_number?: string;
  /**
   * Older name of `recipient_bank_code`.
   * @deprecated
   */
  destination_bank_code?: string;
  /**
   * Taken from older callers; the name that counts is the bank’s own.
   * @deprecated
   */
  destination_account_name?: string;
  /** What it is for. */
  narration: string;
  /** Your own name for it, unique for ever; the id if you give none. */
  reference?: string;
  /** @default "NGN" */
  currency?: 'NGN';
  /** Your own data, stored with it. At most 8192 bytes of JSON, 50 keys over all levels, and 5 levels. A card number is refused, in a text, a name or the integer part of a number: 13 to 19 digits that begin with 3 to 6 and pass the Luhn check. So is an unpaired surrogate (`\ud800` alone). */
  metadata?: { [name: string]: unknown };
} & (
  | {
      /** NUBAN account number. */
      recipient_account: string;
      /** CBN or NIP code, see `GET /transfers/banks`. */
      recipient_bank_code: string;
      destination_account_number?: never;
      destination_bank_code?: never;
      destination_account_name?: never;
    }
  | {
      /**
       * Older name of `recipient_account`.
       * @deprecated
       */
      destination_account_number: string;
      /**
       * Older name of `recipient_bank_code`.
       * @deprecated
       */
      destination_bank_code: string;
      recipient_account?: never;
      recipient_bank_code?: never;
    }
);

export type NewBulkTransfer = {
  /** Bodies of `POST /transfers`, without a key of their own. A bad one is refused alone, in the answer. */
  transfers: NewTransfer[];
};

export type AccountToResolve = {
  /** NUBAN account number. */
  recipient_account?: string;
  /** CBN or NIP code, see `GET /transfers/banks`. */
  recipient_bank_code?: string;
  /**
   * Older name of `recipient_account`.
   * @deprecated
   */
  destination_account_number?: string;
  /**
   * Older name of `recipient_bank_code`.
   * @deprecated
   */
  destination_bank_code?: string;
  /**
   * Taken from older callers; the name that counts is the bank’s own.
   * @deprecated
   */
  destination_account_name?: string;
} & (
  | {
      /** NUBAN account number. */
      recipient_account: string;
      /** CBN or NIP code, see `GET /transfers/banks`. */
      recipient_bank_code: string;
      destination_account_number?: never;
      destination_bank_code?: never;
      destination_account_name?: never;
    }
  | {
      /**
       * Older name of `recipient_account`.
       * @deprecated
       */
      destination_account_number: string;
      /**
       * Older name of `recipient_bank_code`.
       * @deprecated
       */
      destination_bank_code: string;
      recipient_account?: never;
      recipient_bank_code?: never;
    }
);

export type Card = {
  id: string;
  /** Your own id of who holds it. */
  customer_id: string;
  type: 'virtual' | 'physical';
  /** `prepaid` spends what it was funded with; `jit` does so too, and a payment that this does not cover is held in the wallet, all of it. */
  funding: 'prepaid' | 'jit';
  /** To be printed on it. */
  name: string | null;
  /** Once the issuer has issued it. */
  brand: string | null;
  /** Once the issuer has issued it. */
  last4: string | null;
  /** Once the issuer has issued it. */
  expiry_month: number | null;
  /** Once the issuer has issued it. */
  expiry_year: number | null;
  currency: 'NGN';
  status: 'pending' | 'active' | 'locked' | 'failed' | 'expired' | 'closed';
  provider: string;
  failure: {
    code: string;
    message: string;
  } | null;
  metadata: { [name: string]: unknown };
  /** When it was accepted. */
  created_at: string;
};

export type Pagination = {
  page: number;
  limit: number;
  total: number;
  pages: number;
  has_more: boolean;
};

export type CardAuthorization = {
  id: string;
  card_id: string;
  status: 'approved' | 'declined' | 'cleared' | 'reversed' | 'expired';
  /** What was decided, whatever became of it. */
  approved: boolean;
  /** Why it was decided so. */
  code: string;
  /** What was asked for, in minor units of the currency. */
  amount_minor: number;
  /** Kobo that are still held for it. */
  held_minor: number;
  /** Kobo that were taken for it, which may be less or more. */
  cleared_minor: number;
  currency: string;
  channel: ('online' | 'pos' | 'atm' | 'contactless') | null;
  merchant: {
    name: string;
    /** ISO 18245. */
    category: string;
    /** ISO 3166. */
    country: string;
  } | null;
  /** Why somebody should look at it. */
  attention: {
    /** Since when. */
    since: string;
    reason: string;
  } | null;
  expires_at: string | null;
  /** When it was decided. */
  created_at: string;
  /** Its last change. */
  updated_at: string;
};

export type CardAutoReload = {
  card_id: string;
  enabled: boolean;
  threshold_minor: number | null;
  amount_minor: number | null;
  daily_cap_minor: number | null;
  /** Kobo that reloads have taken today. */
  used_today_minor: number;
  /** The reload that is under way. */
  operation_id: string | null;
  /** Reloads refused in a row. */
  refusals: number;
  /** Why it is not tried any more until the settings are put again. */
  attention: {
    /** Since when. */
    since: string;
    reason: string;
  } | null;
};

export type CardBalance = {
  card_id: string;
  /** Kobo that can be spent, less what authorizations hold. */
  available_minor: number;
  currency: 'NGN';
  /** When it was read. */
  as_of: string;
};

export type CardOperation = {
  id: string;
  card_id: string;
  type: 'fund' | 'jit_fund' | 'auto_reload' | 'lock' | 'unlock' | 'close';
  status: 'pending' | 'processing' | 'completed' | 'failed';
  amount_minor: number | null;
  currency: 'NGN';
  transaction_reference: string | null;
  reason: string | null;
  request_id: string | null;
  metadata: { [name: string]: unknown };
  failure: {
    code: string;
    message: string;
  } | null;
  /** Why it waits for an operator of ours. */
  attention: {
    /** Since when. */
    since: string;
    reason: string;
  } | null;
  /** When it was accepted. */
  created_at: string;
  completed_at: string | null;
};

export type TimelineEntry = {
  /** When it happened. */
  at: string;
  type:
    | 'accepted'
    | 'submitted'
    | 'provider_answer'
    | 'poll'
    | 'webhook'
    | 'operator'
    | 'settled'
    | 'released'
    | 'reversed'
    | 'suspense'
    | 'attention_raised'
    | 'attention_cleared'
    | 'webhook_delivered'
    | 'note';
  actor: string;
  detail: string | null;
  provider_request_id: string | null;
};

export type CardSecurity = {
  channels: {
    online: boolean;
    pos: boolean;
    atm: boolean;
    contactless: boolean;
  };
  /** Kobo that one payment may be; null: no such limit. */
  per_transaction_limit_minor: number | null;
  /** Kobo that may be approved on one calendar day in Africa/Lagos; null: no such limit. */
  daily_limit_minor: number | null;
  /** Where the merchant may be, ISO 3166; empty: anywhere. */
  allowed_countries: string[];
  /** ISO 18245; empty: none. */
  blocked_merchant_categories: string[];
};

export type Charge = {
  /** What it is asked for by. */
  reference: string;
  /** Kobo that the customer pays. */
  amount_minor: number;
  currency: 'NGN';
  /** `customer_action_required`: the customer pays on the provider’s page, where `next_action` leads. `merchant_initiated`: an active payment token is charged without the customer. */
  capture_mode: 'customer_action_required' | 'merchant_initiated';
  /** `requires_action`: send the customer to `next_action.url`. A charge that failed because nobody paid is completed all the same if a payment is proven later. */
  status: 'pending' | 'requires_action' | 'processing' | 'completed' | 'failed';
  customer_id: string;
  payment_token_id: string | null;
  /** Where the customer goes on. */
  next_action: {
    type: 'redirect';
    url: string;
  } | null;
  /** Kobo of it that were refunded. */
  refunded_minor: number;
  failure: {
    code: string;
    message: string;
  } | null;
  /** Why it waits for an operator of ours. */
  attention: {
    /** Since when. */
    since: string;
    reason: string;
  } | null;
  description: string | null;
  metadata: { [name: string]: unknown };
  /** When it was accepted. */
  created_at: string;
  completed_at: string | null;
};

export type PaymentToken = {
  payment_token_id: string;
  customer_id: string;
  type: 'card' | 'bank_account';
  /** `unbound` until a setup charge that names it is paid; then `active`, and it can be charged without the customer. */
  status: 'unbound' | 'active' | 'revoked';
  brand?: string;
  last4?: string;
  bank_code?: string;
  /** When it was made. */
  created_at: string;
};

export type RecurringCharge = {
  id: string;
  payment_token_id: string;
  customer_id: string;
  /** Kobo that each period costs. */
  amount_minor: number;
  currency: 'NGN';
  interval: 'day' | 'week' | 'month' | 'year';
  interval_count: number;
  timezone: string;
  /** When the first period begins. */
  start_at: string;
  end_at: string | null;
  /** How many periods there are; those passed by while it was paused count. */
  count: number | null;
  /** `past_due`: a charge was declined. It goes on, and is `active` again when a later charge is paid, or when it is resumed by hand. */
  status: 'active' | 'paused' | 'past_due' | 'ended' | 'cancelled';
  next_charge_at: string | null;
  charged_periods: number;
  /** Reference of the charge that was paid last. */
  last_paid_reference: string | null;
  /** References of charges that are on their way or tried again, and of the last that failed. */
  unpaid_references: string[];
  description: string | null;
  metadata: { [name: string]: unknown };
  /** When it was accepted. */
  created_at: string;
  /** Its last change. */
  updated_at: string;
  ended_at: string | null;
};

export type Refund = {
  /** What it is asked for by. */
  reference: string;
  /** Your reference of the charge. */
  charge_reference: string;
  /** Kobo that the customer gets back. */
  amount_minor: number;
  currency: 'NGN';
  status: 'pending' | 'processing' | 'completed' | 'failed';
  reason: string | null;
  failure: {
    code: string;
    message: string;
  } | null;
  /** Why it waits for an operator of ours. */
  attention: {
    /** Since when. */
    since: string;
    reason: string;
  } | null;
  /** When it was accepted. */
  created_at: string;
  completed_at: string | null;
};

export type Transfer = {
  id: string;
  /** Kobo that the recipient gets. */
  amount_minor: number;
  /** Kobo. */
  fee_minor: number;
  /** Kobo that the wallet pays: amount and fee. */
  total_minor: number;
  recipient_account: string;
  /** As the bank has it. */
  recipient_name: string | null;
  recipient_bank: string | null;
  recipient_bank_code: string;
  status: 'pending' | 'processing' | 'completed' | 'failed';
  reference: string;
  narration: string;
  /** The bank’s own, once it paid. */
  session_id: string | null;
  currency: 'NGN';
  metadata: { [name: string]: unknown };
  provider: string;
  failure: {
    code: string;
    message: string;
  } | null;
  /** Why it waits for an operator of ours. */
  attention: {
    /** Since when. */
    since: string;
    reason: string;
  } | null;
  /** When it was accepted. */
  created_at: string;
  /** Its last change. */
  updated_at: string;
  completed_at: string | null;
  reversed_at: string | null;
};

export type Bank = {
  code: string;
  nip_code: string;
  name: string;
};

export type BulkTransfer = {
  id: string;
  /** `completed` when none of its transfers is under way any more. */
  status: 'processing' | 'completed';
  counts: {
    total: number;
    accepted: number;
    refused: number;
    pending: number;
    processing: number;
    completed: number;
    failed: number;
  };
  items: {
    index: number;
    reference: string | null;
    /** Of the transfer, if accepted. */
    id?: string;
    status?: 'pending' | 'processing' | 'completed' | 'failed';
    /** Why this one was refused. */
    error?: {
      code: string;
      message: string;
      field?: string;
      details?: { [name: string]: unknown };
    };
  }[];
  /** When it was taken. */
  created_at: string;
};

export type Recipient = {
  recipient_account: string;
  /** As the bank has it. */
  recipient_name: string | null;
  recipient_bank: string | null;
  recipient_bank_code: string;
};

export type CardEvent = {
  id: string;
  card_id: string | null;
  provider: string;
  /** Our name for it, whoever the issuer is. */
  event: string;
  /** `processed`: what it says is in our books, or changed nothing there. `failed`: it could not be applied, and a replay may. */
  status: 'received' | 'processed' | 'ignored' | 'failed';
  /** When it was stored. */
  received_at: string;
  processed_at: string | null;
};

export type CardEventReplay = {
  id: string;
  event_id: string;
  status: 'pending' | 'completed' | 'failed';
  /** Why it could not be applied this time either. */
  failure: {
    code: string;
    message: string;
  } | null;
  /** When it was accepted. */
  created_at: string;
  completed_at: string | null;
};

/** What a webhook brings. Later versions of the service may send further events. */
export type WebhookEvent =
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'transfer.processing';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Transfer;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'transfer.completed';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Transfer;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'transfer.failed';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Transfer;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'transfer.reversed';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Transfer;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'card.operation.completed';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: CardOperation;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'card.operation.failed';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: CardOperation;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'card.locked';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Card;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'card.unlocked';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Card;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'charge.requires_action';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Charge;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'charge.completed';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Charge;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'charge.failed';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Charge;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'refund.completed';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Refund;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'refund.failed';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: Refund;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'recurring_charge.renewed';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: RecurringCharge;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'recurring_charge.past_due';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: RecurringCharge;
    }
  | {
      /** The same in every attempt and in `webhook-id`. */
      id: string;
      event: 'recurring_charge.ended';
      /** When it happened. */
      created_at: string;
      /** Counts the changes of this resource: tells late from new. */
      sequence: number;
      data: RecurringCharge;
    };

/** What can be called: what it takes, and what it answers. */
export type Operations = {
  /**
   * Send money to a bank account.
   *
   * Accepted means kept: amount and fee are held in the wallet, and the transfer ends `completed` or `failed`, whatever breaks in between. A bank that does not answer makes it neither.
   */
  createTransfer: { input: NewTransfer; data: Transfer };
  /** List transfers, newest first unless sorted */
  listTransfers: {
    input: {
      /**
       * Which page; one beyond the end is empty, with the right totals.
       * @default 1
       */
      page?: number;
      /**
       * Results per page.
       * @default 20
       */
      limit?: number;
      /** `successful` is `completed`. */
      status?: 'pending' | 'processing' | 'completed' | 'failed' | 'successful';
      /** First day of acceptance, UTC. */
      start_date?: string;
      /** Last day of acceptance, UTC; not before `start_date`. */
      end_date?: string;
      reference?: string;
      /**
       * A minus is for descending order.
       * @default "-created_at"
       */
      sort?: 'created_at' | '-created_at' | 'amount_minor' | '-amount_minor';
    };
    data: Transfer;
  };
  /** Get a transfer */
  getTransfer: {
    input: {
      id: string;
    };
    data: Transfer;
  };
  /**
   * Every step of a transfer, in order.
   *
   * What happened, when, by whom, and under which request of the bank’s.
   */
  getTransferTimeline: {
    input: {
      id: string;
      /**
       * Which page; one beyond the end is empty, with the right totals.
       * @default 1
       */
      page?: number;
      /**
       * Results per page.
       * @default 100
       */
      limit?: number;
    };
    data: TimelineEntry;
  };
  /**
   * Send up to a thousand transfers at once.
   *
   * Each item is accepted or refused on its own; the answer says which.
   */
  createBulkTransfer: { input: NewBulkTransfer; data: BulkTransfer };
  /** Get a bulk with its items as they stand */
  getBulkTransfer: {
    input: {
      id: string;
    };
    data: BulkTransfer;
  };
  /**
   * Whose account it is.
   *
   * A name enquiry at the bank. Creates nothing.
   */
  resolveAccount: { input: AccountToResolve; data: Recipient };
  /** List the banks that money can be sent to */
  listBanks: {
    input: {
      /**
       * Which page; one beyond the end is empty, with the right totals.
       * @default 1
       */
      page?: number;
      /**
       * Results per page.
       * @default 100
       */
      limit?: number;
    };
    data: Bank;
  };
  /**
   * Have a card issued.
   *
   * The card is `pending` until the issuer has issued it (`active`) or refused it (`failed`).
   */
  createCard: { input: NewCard; data: Card };
  /** List cards, newest first */
  listCards: {
    input: {
      /**
       * Results per page.
       * @default 20
       */
      limit?: number;
      /**
       * How many to leave out; beyond the end the page is empty.
       * @default 0
       */
      offset?: number;
    };
    data: Card;
  };
  /** Get a card */
  getCard: {
    input: {
      id: string;
    };
    data: Card;
  };
  /** What a card can spend */
  getCardBalance: {
    input: {
      id: string;
    };
    data: CardBalance;
  };
  /** Get an operation on a card */
  getCardOperation: {
    input: {
      id: string;
      operation_id: string;
    };
    data: CardOperation;
  };
  /**
   * Every step of an operation, in order.
   *
   * What happened, when, by whom, and under which request of the issuer’s.
   */
  getCardOperationTimeline: {
    input: {
      id: string;
      operation_id: string;
      /**
       * Results per page.
       * @default 100
       */
      limit?: number;
      /**
       * How many to leave out; beyond the end the page is empty.
       * @default 0
       */
      offset?: number;
    };
    data: TimelineEntry;
  };
  /**
   * List what a card was funded with, newest first.
   *
   * Its operations `fund`, `jit_fund` and `auto_reload`, whatever became of them.
   */
  listCardFundings: {
    input: {
      id: string;
      /**
       * Results per page.
       * @default 20
       */
      limit?: number;
      /**
       * How many to leave out; beyond the end the page is empty.
       * @default 0
       */
      offset?: number;
    };
    data: CardOperation;
  };
  /**
   * Lock a card.
   *
   * From the answer on nothing is approved and nothing is funded. The issuer is told until it agrees; then the operation is `completed`. A later lock or unlock takes the place of one that is not (`superseded`).
   */
  lockCard: {
    input: {
      id: string;
    } & CardControl;
    data: CardOperation;
  };
  /**
   * Unlock a card.
   *
   * The card stays locked until the issuer has confirmed that it is open.
   */
  unlockCard: {
    input: {
      id: string;
    } & CardControl;
    data: CardOperation;
  };
  /**
   * Close a card for good.
   *
   * Closed from the answer on. What is left of its balance goes back to the wallet as soon as nothing of it is held.
   */
  closeCard: {
    input: {
      id: string;
    } & CardControl;
    data: CardOperation;
  };
  /**
   * Make a token for a customer’s card.
   *
   * It holds no card: a setup charge that names it sends the customer to the provider’s page, which takes the card. A body that holds anything like a card number or a security code is refused.
   */
  createCardToken: { input: NewCardToken; data: PaymentToken };
  /**
   * Make a token for a customer’s bank account.
   *
   * The customer allows it to be charged on the provider’s page, by a setup charge.
   */
  createBankAccountToken: { input: NewBankAccountToken; data: PaymentToken };
  /** List a customer’s payment tokens, newest first */
  listCustomerTokens: {
    input: {
      /** Your own id of the customer. */
      customer_id: string;
      /**
       * Which page; one beyond the end is empty, with the right totals.
       * @default 1
       */
      page?: number;
      /**
       * Results per page.
       * @default 20
       */
      limit?: number;
    };
    data: PaymentToken;
  };
  /**
   * Charge a customer.
   *
   * With `customer_action_required` the customer pays on the provider’s page: its address comes in `next_action`, with this answer if you wait for it (`Prefer: wait=5`). With `merchant_initiated` an active payment token is charged; a soft decline is tried again on following days. What is paid credits the wallet, less the provider’s fee. Public keys: `customer_action_required` only.
   */
  createCharge: { input: NewCharge; data: Charge };
  /** List charges, newest first unless sorted */
  listCharges: {
    input: {
      /**
       * Which page; one beyond the end is empty, with the right totals.
       * @default 1
       */
      page?: number;
      /**
       * Results per page.
       * @default 20
       */
      limit?: number;
      status?: 'pending' | 'requires_action' | 'processing' | 'completed' | 'failed';
      /** Your own id of the customer. */
      customer_id?: string;
      /** First day of acceptance, UTC. */
      start_date?: string;
      /** Last day of acceptance, UTC; not before `start_date`. */
      end_date?: string;
      /**
       * A minus is for descending order.
       * @default "-created_at"
       */
      sort?: 'created_at' | '-created_at';
    };
    data: Charge;
  };
  /** Get a charge */
  getCharge: {
    input: {
      /** Your reference of the charge, or our id of it. */
      reference: string;
    };
    data: Charge;
  };
  /**
   * Every step of a charge, in order.
   *
   * What happened, when, by whom, and under which request of the provider’s.
   */
  getChargeTimeline: {
    input: {
      /** Your reference of the charge, or our id of it. */
      reference: string;
      /**
       * Which page; one beyond the end is empty, with the right totals.
       * @default 1
       */
      page?: number;
      /**
       * Results per page.
       * @default 100
       */
      limit?: number;
    };
    data: TimelineEntry;
  };
  /**
   * Ask the provider about a charge now.
   *
   * For the moment when the customer comes back. The provider is asked, what it says is applied, and the charge is answered as it stands then; a provider that is silent changes nothing. Call it as often as you like.
   */
  verifyCharge: {
    input: {
      /** Your reference of the charge, or our id of it. */
      reference: string;
    };
    data: Charge;
  };
  /**
   * Refund a charge, whole or in part.
   *
   * The amount is held in the wallet until the provider has refunded (`completed`) or definitely has not (`failed`, and the hold is back). Refunds of a charge never come to more than it was, those under way counted; the provider’s fee is not given back.
   */
  createRefund: { input: NewRefund; data: Refund };
  /** Get a refund */
  getRefund: {
    input: {
      /** Your reference of the refund, or our id of it. */
      reference: string;
    };
    data: Refund;
  };
  /**
   * Every step of a refund, in order.
   *
   * What happened, when, by whom, and under which request of the provider’s.
   */
  getRefundTimeline: {
    input: {
      /** Your reference of the refund, or our id of it. */
      reference: string;
      /**
       * Which page; one beyond the end is empty, with the right totals.
       * @default 1
       */
      page?: number;
      /**
       * Results per page.
       * @default 100
       */
      limit?: number;
    };
    data: TimelineEntry;
  };
  /**
   * Charge a payment token every day, week, month or year.
   *
   * Each period is charged once when it begins, as a merchant-initiated charge with the reference `<id>-<period>`, periods counted from 0. What was missed is made up for, the oldest first. The 31st means the last day of a shorter month.
   */
  createRecurringCharge: { input: NewRecurringCharge; data: RecurringCharge };
  /** List recurring charges, newest first */
  listRecurringCharges: {
    input: {
      /**
       * Which page; one beyond the end is empty, with the right totals.
       * @default 1
       */
      page?: number;
      /**
       * Results per page.
       * @default 20
       */
      limit?: number;
      status?: 'active' | 'paused' | 'past_due' | 'ended' | 'cancelled';
    };
    data: RecurringCharge;
  };
  /** Get a recurring charge */
  getRecurringCharge: {
    input: {
      id: string;
    };
    data: RecurringCharge;
  };
  /**
   * Pause a recurring charge.
   *
   * Periods that begin from now on are passed by, and never made up for. A charge that exists goes on. One that is paused already stays so.
   */
  pauseRecurringCharge: {
    input: {
      id: string;
    } & {};
    data: RecurringCharge;
  };
  /**
   * Resume a recurring charge.
   *
   * Goes on with the next period that begins. One that is past due is active again, unless a charge of it is still being tried. One that is active already stays so.
   */
  resumeRecurringCharge: {
    input: {
      id: string;
    } & {};
    data: RecurringCharge;
  };
  /**
   * Cancel a recurring charge, for good.
   *
   * No further period is charged, and a declined charge is not tried again. One that is cancelled already stays so.
   */
  cancelRecurringCharge: {
    input: {
      id: string;
    } & {};
    data: RecurringCharge;
  };
  /**
   * Move money from the wallet to a card.
   *
   * The amount is held in the wallet until the issuer has funded the card (`completed`) or definitely has not (`failed`, and the hold is back). Unknown fields of the body are kept as metadata.
   */
  fundCard: {
    input: {
      id: string;
    } & CardFunding;
    data: CardOperation;
  };
  /**
   * Fund a card at once, or not at all.
   *
   * Answers when the issuer has funded the card, or at the deadline (2 s). Then it has `failed` with `deadline_exceeded`, whatever comes later: the amount stays held until it is certain that nothing of it is on the card. Unknown fields of the body are kept as metadata.
   */
  jitFundCard: {
    input: {
      id: string;
    } & CardFunding;
    data: CardOperation;
  };
  /** When a card is reloaded by itself */
  getCardAutoReload: {
    input: {
      id: string;
    };
    data: CardAutoReload;
  };
  /**
   * Have a prepaid card reloaded when it falls below a threshold.
   *
   * Each fall below the threshold is followed by one reload, within the daily cap. One that is refused, by the wallet or the issuer, is tried again by the next spending; after three in a row none is tried until the settings are put again.
   */
  putCardAutoReload: {
    input: {
      id: string;
    } & CardAutoReloadSettings;
    data: CardAutoReload;
  };
  /** What may be paid with a card */
  getCardSecurity: {
    input: {
      id: string;
    };
    data: CardSecurity;
  };
  /**
   * Set what may be paid with a card.
   *
   * All of it at once. It holds for every payment that is decided from the answer on; what was approved before stays approved. Needs a key of level admin.
   */
  putCardSecurity: {
    input: {
      id: string;
    } & NewCardSecurity;
    data: CardSecurity;
  };
  /** Payments with a card, approved and declined, newest first */
  listCardAuthorizations: {
    input: {
      id: string;
      /**
       * Results per page.
       * @default 20
       */
      limit?: number;
      /**
       * How many to leave out; beyond the end the page is empty.
       * @default 0
       */
      offset?: number;
    };
    data: CardAuthorization;
  };
  /**
   * What the issuer told about a card, the latest first.
   *
   * Keep what you have read: this list has a limit of its own, besides that of your plan. To be told of changes, have a webhook.
   */
  listCardEvents: {
    input: {
      card_id: string;
      /**
       * Which page; one beyond the end is empty, with the right totals.
       * @default 1
       */
      page?: number;
      /**
       * Results per page.
       * @default 20
       */
      limit?: number;
    };
    data: CardEvent;
  };
  /**
   * Apply a stored event once more.
   *
   * The same handling as at first: what has happened stays as it is, and an event that could not be applied then is now.
   */
  replayCardEvent: {
    input: {
      event_id: string;
    };
    data: CardEventReplay;
  };
  /** What became of a replay */
  getCardEventReplay: {
    input: {
      event_id: string;
      id: string;
    };
    data: CardEventReplay;
  };
};

/** How it is called. */
export const operations = {
  createTransfer: { method: 'POST', path: '/api/v1/transfers', idempotent: true, waits: true },
  listTransfers: { method: 'GET', path: '/api/v1/transfers', list: true, safe: true },
  getTransfer: { method: 'GET', path: '/api/v1/transfers/{id}', safe: true },
  getTransferTimeline: {
    method: 'GET',
    path: '/api/v1/transfers/{id}/timeline',
    list: true,
    safe: true,
  },
  createBulkTransfer: {
    method: 'POST',
    path: '/api/v1/transfers/bulk',
    idempotent: true,
    waits: true,
  },
  getBulkTransfer: { method: 'GET', path: '/api/v1/transfers/bulk/{id}', safe: true },
  resolveAccount: { method: 'POST', path: '/api/v1/transfers/resolve-account', safe: true },
  listBanks: { method: 'GET', path: '/api/v1/transfers/banks', list: true, safe: true },
  createCard: { method: 'POST', path: '/api/v1/cards', idempotent: true, waits: true },
  listCards: { method: 'GET', path: '/api/v1/cards', list: true, safe: true },
  getCard: { method: 'GET', path: '/api/v1/cards/{id}', safe: true },
  getCardBalance: { method: 'GET', path: '/api/v1/cards/{id}/balance', safe: true },
  getCardOperation: {
    method: 'GET',
    path: '/api/v1/cards/{id}/operations/{operation_id}',
    safe: true,
  },
  getCardOperationTimeline: {
    method: 'GET',
    path: '/api/v1/cards/{id}/operations/{operation_id}/timeline',
    list: true,
    safe: true,
  },
  listCardFundings: {
    method: 'GET',
    path: '/api/v1/cards/{id}/funding-history',
    list: true,
    safe: true,
  },
  lockCard: { method: 'POST', path: '/api/v1/cards/{id}/lock', idempotent: true, waits: true },
  unlockCard: { method: 'POST', path: '/api/v1/cards/{id}/unlock', idempotent: true, waits: true },
  closeCard: { method: 'POST', path: '/api/v1/cards/{id}/close', idempotent: true, waits: true },
  createCardToken: { method: 'POST', path: '/api/v1/payments/tokens/card', idempotent: true },
  createBankAccountToken: {
    method: 'POST',
    path: '/api/v1/payments/tokens/bank-account',
    idempotent: true,
  },
  listCustomerTokens: {
    method: 'GET',
    path: '/api/v1/payments/customers/{customer_id}/tokens',
    list: true,
    safe: true,
  },
  createCharge: { method: 'POST', path: '/api/v1/payments/charges', idempotent: true, waits: true },
  listCharges: { method: 'GET', path: '/api/v1/payments/charges', list: true, safe: true },
  getCharge: { method: 'GET', path: '/api/v1/payments/charges/{reference}', safe: true },
  getChargeTimeline: {
    method: 'GET',
    path: '/api/v1/payments/charges/{reference}/timeline',
    list: true,
    safe: true,
  },
  verifyCharge: { method: 'POST', path: '/api/v1/payments/charges/{reference}/verify', safe: true },
  createRefund: { method: 'POST', path: '/api/v1/payments/refunds', idempotent: true, waits: true },
  getRefund: { method: 'GET', path: '/api/v1/payments/refunds/{reference}', safe: true },
  getRefundTimeline: {
    method: 'GET',
    path: '/api/v1/payments/refunds/{reference}/timeline',
    list: true,
    safe: true,
  },
  createRecurringCharge: {
    method: 'POST',
    path: '/api/v1/payments/recurring-charges',
    idempotent: true,
  },
  listRecurringCharges: {
    method: 'GET',
    path: '/api/v1/payments/recurring-charges',
    list: true,
    safe: true,
  },
  getRecurringCharge: {
    method: 'GET',
    path: '/api/v1/payments/recurring-charges/{id}',
    safe: true,
  },
  pauseRecurringCharge: {
    method: 'POST',
    path: '/api/v1/payments/recurring-charges/{id}/pause',
    idempotent: true,
  },
  resumeRecurringCharge: {
    method: 'POST',
    path: '/api/v1/payments/recurring-charges/{id}/resume',
    idempotent: true,
  },
  cancelRecurringCharge: {
    method: 'POST',
    path: '/api/v1/payments/recurring-charges/{id}/cancel',
    idempotent: true,
  },
  fundCard: { method: 'POST', path: '/api/v1/cards/{id}/fund', idempotent: true, waits: true },
  jitFundCard: {
    method: 'POST',
    path: '/api/v1/cards/{id}/jit-fund',
    idempotent: true,
    waits: true,
  },
  getCardAutoReload: { method: 'GET', path: '/api/v1/cards/{id}/auto-reload', safe: true },
  putCardAutoReload: { method: 'PUT', path: '/api/v1/cards/{id}/auto-reload' },
  getCardSecurity: { method: 'GET', path: '/api/v1/cards/{id}/security', safe: true },
  putCardSecurity: { method: 'PUT', path: '/api/v1/cards/{id}/security' },
  listCardAuthorizations: {
    method: 'GET',
    path: '/api/v1/cards/{id}/authorizations',
    list: true,
    safe: true,
  },
  listCardEvents: {
    method: 'GET',
    path: '/api/v1/webhooks/cards/events/{card_id}',
    list: true,
    safe: true,
  },
  replayCardEvent: {
    method: 'POST',
    path: '/api/v1/webhooks/cards/events/{event_id}/replay',
    idempotent: true,
    waits: true,
  },
  getCardEventReplay: {
    method: 'GET',
    path: '/api/v1/webhooks/cards/events/{event_id}/replays/{id}',
    safe: true,
  },
} as const satisfies Record<keyof Operations, object>;
