import type { CardEventName, CardRecord } from './issuer/records.js';
import type { AcquirerEventName, AcquirerRecord } from './acquirer/records.js';

/** What a client asks for, as it is on the wire and in the journal. */
export type TransferRequest = {
  reference: string;
  client_reference: string;
  amount_minor: number;
  currency: 'NGN';
  account: string;
  bank_code: string;
  narration: string;
  requested_at: string;
};

export type TransferEventName =
  'transfer.paid' | 'transfer.refused' | 'transfer.reversed' | 'transfer.pending';

export type EventName = TransferEventName | CardEventName | AcquirerEventName;

/** What an event is about: the number of it. */
export type Subject =
  | { transfer: number }
  | { card: number }
  | { funding: number }
  | { authorization: number }
  | { charge: number }
  | { refund: number };

/** One delivery of an event to the client; two deliveries of one event share its `id`. */
export type CallbackRecord = {
  kind: 'callback';
  delivery: number;
  id: string;
  event: EventName;
  occurred_at: number;
  not_before: number;
} & Subject;

/** One fact of the journal. Times are milliseconds since 1970; `transfer` is the number that `submitted` gave. */
export type BankRecord =
  | { kind: 'submitted'; transfer: number; order: TransferRequest; at: number }
  /** `reference`: what is counted; a transfer's own reference, or the kind and name of something else. */
  | { kind: 'turned_away'; reference: string; at: number }
  | { kind: 'paid'; transfer: number; seq: number; session_id: string; at: number }
  | { kind: 'reversed'; transfer: number; seq: number; at: number }
  | { kind: 'refused'; transfer: number; code: string; at: number }
  | CardRecord
  | AcquirerRecord
  | CallbackRecord
  | { kind: 'callback_done'; delivery: number; delivered: boolean; at: number };
