import type { InstructionRecord } from '../../core/instructions/instruction.js';

/** A transfer as it is stored. Amounts in kobo. */
export type Transfer = InstructionRecord & {
  amount_minor: bigint;
  fee_minor: bigint;
  total_minor: bigint;
  currency: 'NGN';
  recipient: { account: string; bank_code: string; name: string | null; bank: string | null };
  reference: string;
  narration: string;
  session_id: string | null;
  metadata: Record<string, unknown> | null;
  failure: { code: string; message: string } | null;
  /** A payment that was proven after the hold was released stands in `suspense`. */
  in_suspense: boolean;
  /** Africa/Lagos day of acceptance: the day whose limit this transfer uses. */
  limit_day: string;
  completed_at: Date | null;
  reversed_at: Date | null;
};

export type TransferStatus = Transfer['status'];

/** The workflow that keeps this promise. */
export const transferWorkflowId = (id: string) => `transfer/${id}`;

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
