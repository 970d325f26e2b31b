type ChargeFields = {
  reference: string;
  client_reference: string;
  amount_minor: number;
  currency: 'NGN';
  customer: { id: string; email: string; name: string | null };
  requested_at: string;
};

/** The means of payment that a page offers. */
export type Channel =
  { type: 'card' } | { type: 'bank_account'; account: string; bank_code: string };

/** A request for a charge that the customer pays on the acquirer's page. */
export type ChargePageRequest = ChargeFields & {
  channel: Channel;
  return_url: string | null;
  /** The page saves a payment method, and nothing is paid; the amount is 0. */
  setup?: true;
};

/** A request for a charge without the customer, by an authorization that an earlier page granted. */
export type AuthorizedChargeRequest = ChargeFields & {
  authorization: string;
  /** Where a customer who has to act returns to. */
  return_url?: string | null | undefined;
};

/** A request for a charge of either kind. */
export type ChargeRequest = ChargePageRequest | AuthorizedChargeRequest;

/** A client's request for a refund, as sent over the wire and stored in the journal. */
export type RefundRequest = {
  /** The client's reference of the charge. */
  charge: string;
  amount_minor: number;
  currency: 'NGN';
  /** The client's free text; it is not used for de-duplication. */
  merchant_note: string;
  client_reference: string;
  requested_at: string;
};

/** Soft: the same charge may succeed later. */
export type Decline = { code: string; decline: 'soft' | 'hard' };

/**
 * The facts about charges and refunds in the journal; each number is assigned by the first record of its charge or
 * refund.
 */
export type AcquirerRecord =
  /** Only a charge with a page has an access code. */
  | {
      kind: 'charge_ordered';
      charge: number;
      order: ChargeRequest;
      access_code: string | null;
      at: number;
    }
  /** The customer has chosen a payment method, and the acquirer delays the payment. */
  | { kind: 'charge_chosen'; charge: number; choice: string; at: number }
  /** The payment's record names the authorization that its page grants. */
  | {
      kind: 'charged';
      charge: number;
      seq: number;
      amount_minor: number;
      granted: { authorization: string; choice: string } | null;
      at: number;
    }
  /** The fee of a payment becomes known. */
  | { kind: 'fee_told'; charge: number; fee_minor: number; at: number }
  | { kind: 'charge_declined'; charge: number; decline: Decline; at: number }
  /** The page stays open after a declined payment method. */
  | { kind: 'page_declined'; charge: number; decline: Decline; at: number }
  | { kind: 'charge_abandoned' | 'charge_cancelled'; charge: number; at: number }
  /** Nothing will ever be executed under this reference of a client. */
  | { kind: 'charge_reference_cancelled'; charge_reference: string; at: number }
  /** The acquirer says what it means by a word that clients do not know. */
  | { kind: 'charge_clarified'; charge: number; at: number }
  /** A setup has saved a payment method. */
  | {
      kind: 'setup_saved';
      charge: number;
      granted: { authorization: string; choice: string };
      at: number;
    }
  /** Revokes the authorization that the page of this charge granted. */
  | { kind: 'authorization_revoked'; charge: number; seq: number; at: number }
  | {
      kind: 'refund_ordered';
      refund: number;
      id: string;
      order: RefundRequest;
      at: number;
    }
  | { kind: 'refunded' | 'refund_returned'; refund: number; seq: number; at: number }
  | { kind: 'refund_refused'; refund: number; code: string; at: number }
  /** The refund waits for the customer's account, or has it. */
  | { kind: 'refund_needs_account' | 'refund_has_account'; refund: number; at: number }
  | DisputeRecord;

/** A dispute of a paid charge. `funds`: the acquirer has taken the amount while it is open. */
type DisputeRecord =
  | {
      kind: 'disputed';
      dispute: number;
      seq: number;
      id: string;
      /** The client's reference of the charge. */
      of: string;
      client_reference: string;
      amount_minor: number;
      funds: 'held' | 'taken';
      at: number;
    }
  | { kind: 'dispute_won' | 'dispute_lost'; dispute: number; seq: number; at: number };
