/** A client's request for a virtual account, as sent over the wire and stored in the journal. */
export type AccountRequest = {
  reference: string;
  /** The client's id of its customer; its ending selects the behaviour. */
  client_reference: string;
  account_name: string;
  /** The wished bank; null leaves the choice to the network. */
  bank_code: string | null;
  currency: 'NGN';
  requested_at: string;
};

/** Money that somebody sends to a virtual account, as the control for tests orders it. */
export type DepositOrder = {
  amount_minor: number;
  currency: string;
  sender_name: string;
  session_id: string;
};

/** A client's request to send a deposit back. Each accepted request with another marker returns it again. */
export type ReturnRequest = { marker: string; amount_minor: number; requested_at: string };

/** The facts about virtual accounts in the journal; each number is assigned by the first record of its kind. */
export type AccountRecord =
  | { kind: 'account_ordered'; account: number; order: AccountRequest; at: number }
  | { kind: 'account_opened'; account: number; seq: number; account_number: string; at: number }
  | { kind: 'account_refused'; account: number; code: string; at: number }
  | { kind: 'account_closed'; account: number; seq: number; at: number }
  | {
      kind: 'deposit_received';
      deposit: number;
      id: string;
      account_number: string;
      order: DepositOrder;
      /** Null for an event without a deposit. */
      seq: number | null;
      at: number;
    }
  /** A request of the client has made the network report the deposit. */
  | { kind: 'deposit_reported'; deposit: number; at: number }
  | { kind: 'deposit_reversed'; deposit: number; seq: number; at: number }
  | { kind: 'deposit_returned'; deposit: number; seq: number; order: ReturnRequest; at: number }
  | { kind: 'deposit_return_refused'; deposit: number; order: ReturnRequest; at: number };
