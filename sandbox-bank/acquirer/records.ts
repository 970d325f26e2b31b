type Ask = {
  reference: string;
  client_reference: string;
  amount_minor: number;
  currency: 'NGN';
  customer: { id: string; email: string; name: string | null };
  requested_at: string;
};

export type Channel =
  { type: 'card' } | { type: 'bank_account'; account: string; bank_code: string };

/** A charge that the customer pays on a page of the acquirer's. */
export type ChargePageRequest = Ask & { channel: Channel; return_url: string | null };

/** A charge without the customer, by what an earlier page has left. */
export type AuthorizedChargeRequest = Ask & { authorization: string };

export type ChargeRequest = ChargePageRequest | AuthorizedChargeRequest;

export type RefundRequest = {
  /** The client's reference of the charge. */
  charge: string;
  amount_minor: number;
  currency: 'NGN';
  /** Free text of the client's; nothing is de-duplicated by it. */
  merchant_note: string;
  client_reference: string;
  requested_at: string;
};

/** Softly: the same may work on another day. */
export type Decline = { code: string; decline: 'soft' | 'hard' };

/** The acquirer's facts of the journal; charges and refunds by the number that their first record gave them. */
export type AcquirerRecord =
  /** Only what the customer pays has a page, and with it an access code. */
  | {
      kind: 'charge_ordered';
      charge: number;
      order: ChargeRequest;
      access_code: string | null;
      at: number;
    }
  /** The customer has chosen what to pay with, and the acquirer takes its time. */
  | { kind: 'charge_chosen'; charge: number; choice: string; at: number }
  /** What a page has left is named for the first time by the record of its payment. */
  | {
      kind: 'charged';
      charge: number;
      seq: number;
      amount_minor: number;
      granted: { authorization: string; choice: string } | null;
      at: number;
    }
  | { kind: 'charge_declined'; charge: number; decline: Decline; at: number }
  | { kind: 'charge_abandoned'; charge: number; at: number }
  /** Revokes what the page of this charge has left. */
  | { kind: 'authorization_revoked'; charge: number; seq: number; at: number }
  | {
      kind: 'refund_ordered';
      refund: number;
      id: string;
      order: RefundRequest;
      at: number;
    }
  | { kind: 'refunded'; refund: number; seq: number; at: number }
  | { kind: 'refund_refused'; refund: number; code: string; at: number };
