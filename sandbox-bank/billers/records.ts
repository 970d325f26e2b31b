/** A client's request to pay a bill, as sent over the wire and stored in the journal. */
export type BillRequest = {
  reference: string;
  client_reference: string;
  biller: string;
  item: string;
  customer_reference: string;
  amount_minor: number;
  currency: 'NGN';
  requested_at: string;
};

/** The goods of a payment, if the biller gives any. */
export type Receipt = { token: string | null; units: string | null };

/** The facts about bills in the journal; `bill` is the number that `bill_ordered` assigned. */
export type BillRecord =
  | { kind: 'bill_ordered'; bill: number; order: BillRequest; at: number }
  | {
      kind: 'bill_paid';
      bill: number;
      seq: number;
      /** The paid amount, if it is not the ordered one. */
      amount_minor?: number;
      receipt: Receipt;
      at: number;
    }
  | { kind: 'bill_reversed'; bill: number; seq: number; at: number }
  | { kind: 'bill_refused'; bill: number; code: string; at: number };
