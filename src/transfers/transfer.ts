export type TransferStatus = 'pending' | 'processing' | 'completed' | 'failed';

export type TimelineType =
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

/** One step of a transfer's life. `detail` is in our words: codes and plain sentences, never a provider's text. */
export type TimelineEntry = {
  at: Date;
  type: TimelineType;
  actor: string;
  detail: string | null;
  provider_request_id: string | null;
};

/** A transfer as it is stored. Amounts in kobo. */
export type Transfer = {
  _id: string;
  tenant: string;
  version: number;
  /** Changes of state so far: the order number of the latest event. Not there before the first. */
  events?: number;
  status: TransferStatus;
  amount_minor: bigint;
  fee_minor: bigint;
  total_minor: bigint;
  currency: 'NGN';
  recipient: { account: string; bank_code: string; name: string | null; bank: string | null };
  reference: string;
  narration: string;
  session_id: string | null;
  metadata: Record<string, unknown> | null;
  provider: string;
  /** How many times the order was allowed to leave us. The next send must name this number to get its permission. */
  sends: number;
  /** Sends that the provider explicitly did not take. */
  not_taken: number;
  polls: number;
  failure: { code: string; message: string } | null;
  attention: { since: Date; reason: string } | null;
  /** A payment that was proven after the hold was released stands in `suspense`. */
  in_suspense: boolean;
  /** Until then the bank is asked on although the transfer was failed by hand: it may have paid all the same. */
  watch_until: Date | null;
  /** Africa/Lagos day of acceptance: the day whose limit this transfer uses. */
  day: string;
  /** When the sweep makes sure that a workflow drives this record; null once nothing is left to do. */
  due_at: Date | null;
  timeline: TimelineEntry[];
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
  reversed_at: Date | null;
};

/** The workflow that keeps this promise. */
export const transferWorkflowId = (id: string) => `transfer/${id}`;

export const isOpen = (transfer: Pick<Transfer, 'status'>) =>
  transfer.status === 'pending' || transfer.status === 'processing';

const FAILURES: Record<string, string> = {
  account_closed: 'The recipient account is closed.',
  no_such_account: 'The recipient account does not exist.',
  invalid_account: 'The recipient account was not found.',
  reversed: 'The payment was made and then reversed by the bank.',
  operator: 'An operator ended this transfer.',
};

/** A failure with our own words for its code; a code that we do not know is still told as it is. */
export const failure = (code: string) => ({
  code,
  message: FAILURES[code] ?? 'The bank refused the payment.',
});

/** A new timeline entry; what is not given is null. */
export function timelineEntry(
  at: Date,
  type: TimelineType,
  actor: string,
  extra: { detail?: string | null; providerRequestId?: string | null } = {},
): TimelineEntry {
  return {
    at,
    type,
    actor,
    detail: extra.detail ?? null,
    provider_request_id: extra.providerRequestId ?? null,
  };
}
