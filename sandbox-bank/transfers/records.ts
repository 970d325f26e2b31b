/** A client's request for a transfer, as sent over the wire and stored in the journal. */
export type TransferRequest = {
  reference: string;
  client_reference: string;
  amount_minor: number;
  currency: 'NGN';
  account: string;
  bank_code: string;
  /** The id of the prepared recipient. */
  recipient?: string | undefined;
  narration: string;
  requested_at: string;
};

/** The facts about transfers in the journal; `transfer` is the number that `submitted` assigned. */
export type TransferRecord =
  | { kind: 'submitted'; transfer: number; order: TransferRequest; at: number }
  | {
      kind: 'paid';
      transfer: number;
      seq: number;
      session_id: string;
      /** The paid amount, if it is not the ordered one. */
      amount_minor?: number;
      at: number;
    }
  | { kind: 'reversed'; transfer: number; seq: number; at: number }
  | { kind: 'refused'; transfer: number; code: string; at: number }
  /** A reference that the bank does not have: nothing may be executed under it. */
  | { kind: 'cancelled'; reference: string; at: number }
  /** The client's balance from now on; null is a balance without end. */
  | { kind: 'float'; amount_minor: number | null; at: number };
