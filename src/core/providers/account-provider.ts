import type { MessageReader } from './provider-message.js';
import type {
  About,
  NotFound,
  Page,
  ResendSafety,
  Throttled,
  Trace as CallTrace,
  Unknown,
  Window,
} from './port.js';
import type { PaymentState } from './transfer-provider.js';

/**
 * The port of providers of virtual accounts: assignment and closing of accounts, and the deposits on them. As for
 * transfers: plain values, a missing answer is the value `unknown`, only an explicit answer is terminal, and no answer makes
 * a method throw. An account number passes here and must not enter a log or a workflow history.
 */

/** The properties of a provider of virtual accounts that decide how it is called. */
type AccountTraits = {
  /** Fields of the customer that an assignment requires beyond the id. */
  needs: readonly ('name' | 'email' | 'phone')[];
  /** Least pause between two requeries of one account; null if the provider has none. */
  requeryEveryMs: number | null;
  /** Meaning of "not found" for an assignment that was not answered. */
  assigning: ResendSafety;
  /** The same for a return. */
  returns: ResendSafety;
  /** Bound of our calls to this provider over all workers. */
  callsPerSecond: number;
  /** The name of a rate that the provider's ports share; left out if this port has one of its own. */
  bucket?: string;
};

/** The customer of a tenant who holds an account. `id` is the tenant's id. */
export type AccountHolder = {
  id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
};

/** A request for an account. */
export type AccountRequest = {
  /** Our own id of the account. */
  reference: string;
  holder: AccountHolder;
  accountName: string;
  /** The wished bank; null leaves the choice to the provider. */
  bankCode: string | null;
  currency: 'NGN';
  requestedAt: Date;
};

/** An account as a payer sees it. */
export type AccountFace = {
  /** The provider's own id of the account. */
  handle: string;
  accountNumber: string;
  accountName: string;
  bankName: string;
  bankCode: string | null;
};

/** The state of an account at its provider. Codes are those of Bursar. */
export type AccountState =
  | { kind: 'pending' }
  | ({ kind: 'assigned' } & AccountFace)
  | { kind: 'rejected'; code: string }
  | { kind: 'closed' };

/** The answer to a request for an account. */
export type AssignAnswer = CallTrace & (AccountState | Throttled | Unknown);
/** The answer to the query of an account by our reference, and by the provider's id where the record has it. */
export type VerifyAccountAnswer = CallTrace & (AccountState | NotFound | Unknown);
/** The answer to a closing, which is safe to repeat. */
export type CloseAnswer = CallTrace &
  ({ kind: 'closed' } | { kind: 'rejected'; code: string } | NotFound | Throttled | Unknown);

/** Money that arrived on an account. */
export type ProviderDeposit = {
  /** The provider's own id, unique at this provider. */
  id: string;
  accountNumber: string;
  amountMinor: bigint;
  /** The fee that the provider keeps; null if it does not report one. */
  feeMinor: bigint | null;
  /** ISO 4217. */
  currency: string;
  sessionId: string | null;
  sender: { name: string | null; account: string | null; bank: string | null };
  narration: string | null;
  /** To the minute at least: it decides whose money this is if a number was given again, or was closed. */
  receivedAt: Date;
};

/** The answer to the query of a deposit by its id. It outranks a message about the deposit. */
export type VerifyDepositAnswer = CallTrace &
  ({ kind: 'received'; deposit: ProviderDeposit } | { kind: 'reversed' } | NotFound | Unknown);

/** A page of the received deposits of a time, the oldest first. */
export type ListDepositsAnswer = CallTrace & (Page<ProviderDeposit> | Unknown);

/** The answer to a request to report an account's deposits again. The reports come as messages. */
export type RequeryAnswer = CallTrace & ({ kind: 'requested' } | NotFound | Throttled | Unknown);

/** A request to send a deposit back to its sender. `marker` is our id of the deposit. */
export type ReturnRequest = {
  id: string;
  amountMinor: bigint;
  marker: string;
  /** The time of this order: it tells the return from an earlier one of the same deposit that has failed. */
  orderedAt: Date;
  requestedAt: Date;
};

/** The answer to a return. */
export type ReturnAnswer = CallTrace & (PaymentState | Throttled | Unknown);
/** The answer to the query of a return. */
export type VerifyReturnAnswer = CallTrace & (PaymentState | NotFound | Unknown);

/** An event of an account or a deposit, as its provider reports it. */
export type AccountEvent = {
  /** Equal for repeats of one event. */
  dedupeKey: string;
  /** Our name of the event, for example `deposit.received`. */
  name: string;
  about:
    | { subject: 'account'; reference: string; state: AccountState }
    /**
     * The account's number and the amount are claims: the deposit is verified before it counts. A message about a reversal
     * may name no account. `refund_failed`: a refund by the provider's staff did not reach the sender.
     */
    | {
        subject: 'deposit';
        id: string;
        kind: 'received' | 'reversed' | 'refund_failed';
        accountNumber: string | null;
        amountMinor: bigint | null;
      };
  occurredAt: Date | null;
};

/** The port of providers of virtual accounts. */
export type AccountProvider = MessageReader<AccountEvent> & {
  name: string;
  accounts: AccountTraits;
  assign(request: AccountRequest, signal: AbortSignal): Promise<AssignAnswer>;
  verifyAccount(about: About, signal: AbortSignal): Promise<VerifyAccountAnswer>;
  close(
    account: { reference: string; handle: string; requestedAt: Date },
    signal: AbortSignal,
  ): Promise<CloseAnswer>;
  /** Makes the provider report the deposits of an account on a day (`YYYY-MM-DD`) again. */
  requery?(
    account: { accountNumber: string; handle: string; day: string },
    signal: AbortSignal,
  ): Promise<RequeryAnswer>;
  verifyDeposit(id: string, signal: AbortSignal): Promise<VerifyDepositAnswer>;
  listDeposits(window: Window, signal: AbortSignal): Promise<ListDepositsAnswer>;
  /** Sends a deposit back. Absent at a provider that cannot. */
  returnDeposit?(request: ReturnRequest, signal: AbortSignal): Promise<ReturnAnswer>;
  verifyReturn?(
    /** `since`: no return was requested before. `orderedAt`: that of the request; the failure of an earlier one is no answer. */
    about: Pick<ReturnRequest, 'id' | 'marker' | 'orderedAt'> & { since: Date },
    signal: AbortSignal,
  ): Promise<VerifyReturnAnswer>;
};
