/** The records of the fake. Amounts are in kobo. Times are ISO texts. */

/** A bank account that transfers can go to. */
export type Recipient = {
  id: number;
  code: string;
  name: string;
  account: string;
  bankCode: string;
  currency: string;
  deleted: boolean;
  createdAt: string;
};

/** The status words of a transfer, and one that no document has. */
type TransferStatus =
  | 'pending'
  | 'received'
  | 'otp'
  | 'success'
  | 'failed'
  | 'abandoned'
  | 'blocked'
  | 'rejected'
  | 'reversed'
  | 'parked';

/** A transfer. */
export type Transfer = {
  id: number;
  code: string;
  reference: string;
  amount: number;
  currency: string;
  recipient: string;
  reason: string;
  status: TransferStatus;
  fee: number | null;
  session: string | null;
  domain: string;
  /** Until then, a look-up answers "not found". */
  hiddenUntil: number;
  createdAt: string;
  updatedAt: string;
};

/** A saved payment method. `next`: the outcome of the next charge with it. */
export type Authorization = {
  code: string;
  email: string;
  channel: 'card' | 'direct_debit';
  brand: string;
  last4: string;
  expMonth: string;
  reusable: boolean;
  active: boolean;
  next: SavedOutcome;
};

/** The outcome of a charge of a saved method. */
export type SavedOutcome =
  | 'success'
  | 'pending'
  | 'paused'
  | 'paused_lost'
  | 'lost'
  | 'lost_before'
  | 'insufficient_funds'
  | 'expired';

/** A transaction: a page, the charge of a saved method, or money that arrived by itself. */
export type Transaction = {
  id: number;
  reference: string;
  amount: number;
  requested: number;
  currency: string;
  email: string;
  status: 'abandoned' | 'ongoing' | 'pending' | 'success' | 'failed' | 'reversed';
  channel: string | null;
  gatewayResponse: string | null;
  fees: number | null;
  authorization: string | null;
  metadata: unknown;
  /** The virtual account on which the money arrived. `told`: a message has reported it. */
  receiver?:
    { account: string; sender: string; narration: string | null; told: boolean } | undefined;
  accessCode: string | null;
  callbackUrl: string | null;
  domain: string;
  hiddenUntil: number;
  createdAt: string;
  paidAt: string | null;
};

/** A customer, by its address. */
export type Customer = {
  id: number;
  code: string;
  email: string;
  firstName: string | null;
  lastName: string | null;
  phone: string | null;
  identified: boolean;
  createdAt: string;
};

/** A dedicated virtual account of a customer. */
export type DedicatedAccount = {
  id: number;
  email: string;
  number: string;
  name: string;
  slug: string;
  assigned: boolean;
  createdAt: string;
};

/** A direct debit mandate. */
export type Mandate = { reference: string; email: string; code: string; active: boolean };

/** A refund. */
export type Refund = {
  id: number;
  transaction: number;
  amount: number;
  currency: string;
  merchantNote: string;
  status: 'pending' | 'processing' | 'processed' | 'failed' | 'needs-attention';
  dispute: number | null;
  /** Until then it is not in the list. */
  listedFrom: number;
  createdAt: string;
  updatedAt: string;
};

/** A dispute. */
export type Dispute = {
  id: number;
  transaction: number;
  amount: number | null;
  status: string;
  resolution: string | null;
  dueAt: string;
  createdAt: string;
};

/** A message that the receiver has not accepted yet. */
export type Outgoing = { id: number; body: string; dueAt: number; attempts: number };

/** A change that happens by itself later. */
export type Planned = {
  id: number;
  dueAt: number;
  does: 'transfer' | 'refund' | 'assign' | 'identify';
  key: string;
  status: string;
};
