import { collection } from '../../core/commit/collection.js';
import { createDailyCounts, utcDay } from '../../core/commit/daily-counts.js';
import {
  failureWith,
  isOpen,
  freshSubmission,
  type InstructionRecord,
  timelineEntry,
} from '../../core/instructions/instruction.js';
import type { AccountFace, AccountHolder } from '../../core/providers/account-provider.js';
import { supervisionIndexes } from '../../platform/database/indexes.js';
import { DAY_MS } from '../../shared/durations.js';
import { newId } from '../../shared/ids.js';

/** The states of an account, as tenants see them. */
export const ACCOUNT_STATES = ['pending', 'active', 'closing', 'closed', 'failed'] as const;
/** The state of an account. */
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** The instruction that a provider carries out, or has carried out last. */
export type AccountInstruction = 'assign' | 'close';

/**
 * A virtual account as it is stored. Its instruction is first the assignment and later the closing; `status` and the counts
 * of submissions are those of the present instruction, `state` is the account's.
 */
export type VirtualAccount = InstructionRecord & {
  state: AccountState;
  instruction: AccountInstruction;
  /** The time at which the present instruction was accepted. */
  instructed_at: Date;
  /** The tenant's reference, unique among its accounts. Without one, the account's id. */
  reference: string;
  customer_id: string;
  customer: AccountHolder;
  /** The wished name and bank; the provider's own are in `face`. */
  account_name: string;
  bank_code: string | null;
  /** The account as its provider has assigned it. */
  face: Omit<AccountFace, 'accountNumber'> | null;
  account_number: string | null;
  currency: 'NGN';
  /** The amount that each deposit is expected to have; null if any is. */
  amount_minor: bigint | null;
  /** The treatment of a deposit of another amount than expected. */
  on_mismatch: 'accept' | 'return';
  /** The sum of the credited deposits, written by the commits that credit them. */
  total_received_minor: bigint;
  metadata: Record<string, unknown> | null;
  failure: { code: string; message: string } | null;
  /** The time from which the provider may be asked again to report the deposits; null if it never was. */
  requeried_at: Date | null;
  /** The day (`YYYY-MM-DD`, UTC) that the provider is asked about next. Missing before the first answer. */
  requery_day?: string;
  /**
   * The last day (`YYYY-MM-DD`, UTC) that the provider is asked about after the closing, because a message about a deposit may
   * have been lost. Missing while the account is open, and once the provider was asked about that day.
   */
  requery_through?: string;
  closed_at: Date | null;
};

/** The accounts of one customer of a tenant. `_id` is `<tenant>/<customer>`. */
export type AccountCustomer = {
  _id: string;
  tenant_id: string;
  /** Accounts that are pending, active or closing. */
  open: number;
  version: number;
};

/** The id of the record that counts a customer's accounts. */
export const accountCustomerId = (tenantId: string, customerId: string) =>
  `${tenantId}/${customerId}`;

/** True for a state that counts towards a customer's open accounts. */
export const isOpenState = (state: AccountState): boolean =>
  state === 'pending' || state === 'active' || state === 'closing';

/** A provider's time of a deposit and our time of an account's record differ by less. */
const CLOCKS_DIFFER_MS = 60_000;

/** False for a time before the account: its provider was not asked for a number yet, so money of that time is not for it. */
export const hasBegun = ({ created_at: from }: Pick<VirtualAccount, 'created_at'>, at: Date) =>
  at.getTime() > from.getTime() - CLOCKS_DIFFER_MS;

/** True while the assignment or the closing of an account is under way. */
export const isUnderWay = (account: VirtualAccount, instruction: AccountInstruction): boolean =>
  account.instruction === instruction && isOpen(account);

/** A failure with its message. An unknown code gets a general message. */
export const accountFailure = failureWith(
  {
    not_eligible: 'The provider gives this customer no account.',
    no_such_bank: 'The provider has no accounts at this bank.',
    closed: 'The provider closed the account.',
    operator: 'An operator ended this account.',
  },
  'The provider refused the account.',
);

/** The counts of accounts by day of creation and state. */
export const accountCounts = createDailyCounts('virtual_account_counts');

/** The indexes of lists. Each has the complete sort order of its list, ties included; ranges of days are tested on the keys. */
export const LIST_INDEXES = {
  created_at: { tenant_id: 1, created_at: -1, _id: -1 },
  account_number: { tenant_id: 1, account_number: -1, _id: -1, created_at: -1 },
  total_received_minor: { tenant_id: 1, total_received_minor: -1, _id: -1, created_at: -1 },
} as const;

/** The same for the accounts of one state. */
export const STATE_INDEXES = {
  created_at: { tenant_id: 1, state: 1, created_at: -1, _id: -1 },
  account_number: { tenant_id: 1, state: 1, account_number: -1, _id: -1, created_at: -1 },
  total_received_minor: {
    tenant_id: 1,
    state: 1,
    total_received_minor: -1,
    _id: -1,
    created_at: -1,
  },
} as const;

/** The index by which a number is looked up over all tenants. */
export const BY_NUMBER = { provider: 1, account_number: 1 } as const;

/** The index of a customer's accounts. */
export const BY_CUSTOMER = { tenant_id: 1, customer_id: 1, created_at: -1, _id: -1 } as const;

const string = { bsonType: 'string' };

/** The collection of virtual accounts. */
export const virtualAccounts = collection<VirtualAccount>('virtual_accounts', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'status', 'state', 'reference', 'total_received_minor'],
    properties: {
      tenant_id: string,
      reference: string,
      customer_id: string,
      account_number: { bsonType: ['string', 'null'] },
      state: { enum: [...ACCOUNT_STATES] },
      status: { enum: ['pending', 'processing', 'completed', 'failed'] },
      amount_minor: { bsonType: ['long', 'null'], minimum: 1 },
      total_received_minor: { bsonType: 'long', minimum: 0 },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, reference: 1 }, unique: true },
    ...[...Object.values(LIST_INDEXES), ...Object.values(STATE_INDEXES), BY_CUSTOMER].map(
      (key) => ({ key }),
    ),
    { key: BY_NUMBER, partialFilterExpression: { account_number: { $type: 'string' } } },
    {
      key: { provider: 1, requeried_at: 1 },
      partialFilterExpression: { state: 'active' },
    },
    {
      key: { provider: 1, requery_through: 1 },
      partialFilterExpression: { requery_through: { $type: 'string' } },
    },
    ...supervisionIndexes,
  ],
  sealed: [
    { path: 'customer.email' },
    { path: 'customer.name' },
    { path: 'customer.phone' },
    { path: 'account_name' },
    { path: 'face.accountName' },
  ],
});

/** The collection of customers with accounts. */
export const accountCustomers = collection<AccountCustomer>('virtual_account_customers', {
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'open', 'version'],
    properties: { tenant_id: string, open: { bsonType: 'int', minimum: 0 } },
  },
  indexes: [],
});

/** The fields of a new account that its creator chooses. */
export type NewAccount = {
  tenantId: string;
  provider: string;
  customer: AccountHolder;
  accountName: string;
  bankCode: string | null;
  reference: string | undefined;
  expectedMinor: bigint | null;
  onMismatch: VirtualAccount['on_mismatch'];
  metadata: Record<string, unknown> | null;
};

/** The fields of an instruction that was just accepted. */
export const freshInstruction = (instruction: AccountInstruction, now: Date) =>
  ({
    instruction,
    instructed_at: now,
    status: 'pending',
    ...freshSubmission(now),
  }) as const;

/** The last day that the provider is asked about if the account closes now: the day after, on which money may still be told. */
export const lastRequeryDay = (closedAt: Date): string =>
  utcDay(new Date(closedAt.getTime() + DAY_MS));

/** The record of a new account, complete with its id. */
export function newVirtualAccount(given: NewAccount, now: Date): VirtualAccount {
  const id = newId('virtualAccount');
  return {
    _id: id,
    tenant_id: given.tenantId,
    version: 1,
    event_sequence: 0,
    state: 'pending',
    ...freshInstruction('assign', now),
    provider: given.provider,
    reference: given.reference ?? id,
    customer_id: given.customer.id,
    customer: given.customer,
    account_name: given.accountName,
    bank_code: given.bankCode,
    face: null,
    account_number: null,
    currency: 'NGN',
    amount_minor: given.expectedMinor,
    on_mismatch: given.onMismatch,
    total_received_minor: 0n,
    metadata: given.metadata,
    failure: null,
    requeried_at: null,
    closed_at: null,
    timeline: [timelineEntry(now, 'accepted', 'api', { detail: 'the account is pending' })],
    created_at: now,
    updated_at: now,
  };
}
