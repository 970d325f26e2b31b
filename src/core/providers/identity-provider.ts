import type { MessageReader } from './provider-message.js';
import type { About, Rejected, ResendSafety, Submit, Verify } from './port.js';

/**
 * The port of identity providers. As for transfers: plain values, a missing answer is the value `unknown`, only an explicit
 * answer is terminal, and no answer makes a method throw. No number and no name is in an answer.
 */

/** The types of identity checks. */
export const CHECK_TYPES = ['bvn', 'nin', 'bank_account'] as const;
/** A type of identity check: a bank verification number, a national identification number, or a bank account. */
export type CheckType = (typeof CHECK_TYPES)[number];

/** The codes of a rejection of the data. A rejection with any other code says that the data could not be checked. */
export const REJECTION_CODES = ['name_mismatch', 'number_not_found', 'account_mismatch'] as const;
/** The code of a rejection of the data. */
export type RejectionCode = (typeof REJECTION_CODES)[number];

/** The properties of an identity provider that decide how it is called. */
type IdentityTraits = {
  resendSafety: ResendSafety;
  /** Bound of our calls to this provider over all workers. */
  callsPerSecond: number;
  /** The name of a rate that the provider's ports share; left out if this port has one of its own. */
  bucket?: string;
  /** The types that it offers. */
  checks: readonly CheckType[];
  /** Its messages name the customer alone, so that one check of a customer may run at a time. */
  onePerCustomer: boolean;
};

/** The personal data that a check compares. It is stored sealed, and erased when the check ends. */
export type CheckSubject = {
  firstName: string;
  lastName: string;
  /** An ISO date. */
  dateOfBirth: string | null;
} & ({ number: string } | { accountNumber: string; bankCode: string; bvn: string | null });

/** A request for a check. */
export type CheckRequest = {
  /** Our id of the check. */
  reference: string;
  /** Our id of the customer. */
  customer: string;
  checkType: CheckType;
  subject: CheckSubject;
  /** The time of the decision to submit: a provider may refuse a request that is too old. */
  requestedAt: Date;
};

/** The state of a check. Codes are those of Bursar, never the provider's own text. */
export type CheckState =
  /** `handle`: the provider's id of the check, if questions are to name it. The record keeps it from the answer to the request. */
  | { kind: 'pending'; handle?: string }
  | { kind: 'verified' }
  /** The provider says that the data do not match. */
  | { kind: 'rejected'; code: RejectionCode };

/**
 * A check at its provider, and the time at which the provider said for the first time that it has the check; null if it has not said
 * so, because the request was not answered or never sent.
 */
export type CheckAbout = About & { acceptedAt: Date | null };

/** An event of a check, as its provider reports it. */
export type IdentityEvent = {
  /** Equal for repeats of one event: the provider's event id, or a hash of the body. */
  dedupeKey: string;
  /** Our id of the check. */
  reference: string;
  /** Our name of the event, for example `check.verified`. */
  name: string;
  /** `Rejected`: the provider could not check the data, and never will under this reference. */
  state: CheckState | Rejected;
  occurredAt: Date | null;
};

/** The port of identity providers. */
export type IdentityProvider = MessageReader<IdentityEvent> & {
  name: string;
  identity: IdentityTraits;
  startCheck: Submit<CheckRequest, CheckState>;
  verifyCheck: Verify<CheckAbout, CheckState>;
};
