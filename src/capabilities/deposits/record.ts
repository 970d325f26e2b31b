import { createHash } from 'node:crypto';
import { collection } from '../../core/commit/collection.js';
import { createDailyCounts } from '../../core/commit/daily-counts.js';
import {
  isOpen,
  freshSubmission,
  type InstructionRecord,
  timelineEntry,
  type TimelineType,
} from '../../core/instructions/instruction.js';
import { supervisionIndexes } from '../../platform/database/indexes.js';
import { idOf } from '../../shared/ids.js';

/** The states of a deposit, as tenants see them. */
export const DEPOSIT_STATES = [
  'received',
  'credited',
  'suspended',
  'returned',
  'reversed',
] as const;
/** The state of a deposit. */
export type DepositState = (typeof DEPOSIT_STATES)[number];

/** The relation of a deposit to what was expected of its account. */
export const MATCHES = ['exact', 'under', 'over', 'late', 'unexpected'] as const;
/** The match of a deposit. */
export type DepositMatch = (typeof MATCHES)[number];

/** The tenant of deposits on accounts that no tenant has. It has no keys, and its wallet is never moved. */
export const UNOWNED = 'unowned';

/** `confirm` asks the provider for the deposit; `return` sends it back. */
export type DepositInstruction = 'confirm' | 'return';

/** A return that was submitted. `refused`: the provider itself has said that it does not return the deposit. */
export type SubmittedReturn = { submitted_at: Date; refused: boolean };

/**
 * A deposit as it is stored. `status` and the counts of submissions are those of the present instruction, `state` is the
 * deposit's. Nothing is booked before the provider has confirmed it.
 */
export type Deposit = InstructionRecord & {
  state: DepositState;
  instruction: DepositInstruction;
  instructed_at: Date;
  virtual_account_id: string | null;
  /** The provider's id of the deposit. */
  reference: string;
  /** A claim of a message until the provider has confirmed it; null if the message names none. */
  amount_minor: bigint | null;
  /** The part that the provider keeps. */
  fee_minor: bigint;
  /** Its suspense has booked the fee. Missing: it was never in suspense, or since a version that booked the fee with the credit alone. */
  fee_booked?: true;
  /** That of the provider's answer; NGN until then. Nothing is booked in another one. */
  currency: string;
  account_number: string;
  match: DepositMatch | null;
  session_id: string | null;
  sender: { name: string | null; account: string | null; bank: string | null } | null;
  narration: string | null;
  /** True for a deposit that an operator has assigned to this account: it is credited whatever its number says. */
  assigned: boolean;
  /** The deposit of another tenant that this one became, because an operator has assigned it there. */
  moved_to: { id: string; tenant_id: string; virtual_account_id: string } | null;
  /** A message has said that it was reversed while its first confirmation was under way: it is asked about once more. */
  doubted?: boolean;
  /** The return that was submitted before the present instruction ended; see submittedReturn. Missing: there was none. */
  last_return?: SubmittedReturn | null;
  /** The reasons of attention that operators have acknowledged; none of them calls again. Missing: there are none. */
  acknowledged?: string[];
  failure: { code: string; message: string } | null;
  received_at: Date;
  credited_at: Date | null;
  reversed_at: Date | null;
};

const derivedId = (text: string) => idOf('deposit', createHash('sha256').update(text).digest());

/** The id of a deposit: derived from the provider's, so that every report of it finds the same record. */
export const depositId = (provider: string, theirs: string): string =>
  derivedId(`${provider}/${theirs}`);

/** The id of the deposit that this one becomes at another tenant. */
export const movedDepositId = (id: string): string => derivedId(`moved/${id}`);

/** True if the deposit has moved no money yet. */
export const isUnbooked = ({ state, status }: Pick<Deposit, 'state' | 'status'>): boolean =>
  state === 'received' || (state === 'reversed' && status === 'failed');

/** The return of a deposit that was submitted last, whatever its present instruction is; null if none was. */
export function submittedReturn(deposit: Deposit): SubmittedReturn | null {
  const { last_return: last = null, first_submitted_at: at, submissions } = deposit;
  const isSubmitted =
    deposit.instruction === 'return' && submissions > deposit.rejected_submissions && at !== null;
  if (!isSubmitted) return last;
  return {
    // A provider that has the first of several returns is asked from that time on.
    submitted_at: last?.submitted_at ?? at,
    refused: !isOpen(deposit) && last?.refused === true,
  };
}

/** True if the provider may have returned a deposit that is not returned here: it has not refused what was submitted. */
export const mayBeReturned = (deposit: Deposit): boolean =>
  deposit.state !== 'returned' && submittedReturn(deposit)?.refused === false;

/** The counts of deposits by day of their record and state. */
export const depositCounts = createDailyCounts('deposit_counts');

/** The indexes of lists. */
export const LIST_INDEXES = {
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byState: { tenant_id: 1, state: 1, created_at: -1, _id: -1 },
  byAccount: { tenant_id: 1, virtual_account_id: 1, created_at: -1, _id: -1 },
  byAccountState: { tenant_id: 1, virtual_account_id: 1, state: 1, created_at: -1, _id: -1 },
} as const;

const string = { bsonType: 'string' };

/** The collection of deposits. */
export const deposits = collection<Deposit>('deposits', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'status', 'state', 'reference', 'fee_minor'],
    properties: {
      tenant_id: string,
      reference: string,
      state: { enum: [...DEPOSIT_STATES] },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      amount_minor: { bsonType: ['long', 'null'], minimum: 1 },
      fee_minor: { bsonType: 'long', minimum: 0 },
      version: { bsonType: 'int' },
    },
  },
  indexes: [
    ...Object.values(LIST_INDEXES).map((key) => ({ key })),
    { key: { tenant_id: 1, session_id: 1 } },
    { key: { tenant_id: 1, reference: 1 } },
    ...supervisionIndexes,
  ],
  sealed: [{ path: 'sender.name' }, { path: 'sender.account' }, { path: 'narration' }],
});

/** The fields of a deposit that its report decides. */
export type NewDeposit = {
  id: string;
  tenantId: string;
  provider: string;
  /** The provider's id. */
  reference: string;
  accountId: string | null;
  accountNumber: string;
  amountMinor: bigint | null;
  receivedAt: Date;
  assigned?: boolean;
  via: TimelineType;
  detail: string;
};

/** The fields of an instruction that was just accepted. The money has arrived already, so a confirmation submits nothing. */
export const freshInstruction = (instruction: DepositInstruction, now: Date) => {
  const submitted = instruction === 'confirm';
  return {
    ...freshSubmission(now),
    instruction,
    instructed_at: now,
    status: submitted ? ('processing' as const) : ('pending' as const),
    submissions: submitted ? 1 : 0,
    first_submitted_at: submitted ? now : null,
    acknowledged_at: submitted ? now : null,
  };
};

/** The record of a deposit that was reported and is not confirmed yet. */
export const newDeposit = (given: NewDeposit, now: Date): Deposit => ({
  _id: given.id,
  tenant_id: given.tenantId,
  version: 1,
  event_sequence: 0,
  state: 'received',
  ...freshInstruction('confirm', now),
  provider: given.provider,
  reference: given.reference,
  virtual_account_id: given.accountId,
  amount_minor: given.amountMinor,
  fee_minor: 0n,
  currency: 'NGN',
  account_number: given.accountNumber,
  match: null,
  session_id: null,
  sender: null,
  narration: null,
  assigned: given.assigned ?? false,
  moved_to: null,
  failure: null,
  received_at: given.receivedAt,
  credited_at: null,
  reversed_at: null,
  timeline: [timelineEntry(now, given.via, given.provider, { detail: given.detail })],
  created_at: now,
  updated_at: now,
});

/** The sender's account with its last four digits only. */
export const maskAccount = (account: string | null): string | null =>
  account === null ? null : `${'*'.repeat(Math.max(0, account.length - 4))}${account.slice(-4)}`;
