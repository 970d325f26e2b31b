import type { Store } from './store.js';
import type {
  Authorization,
  Customer,
  DedicatedAccount,
  Dispute,
  Mandate,
  Outgoing,
  Planned,
  Recipient,
  Refund,
  Transaction,
  Transfer,
} from './records.js';
import type { Plans } from './plans.js';
import type { RefundForm } from './refunds.js';

/** The settings of a fake. */
export type PaystackOptions = {
  dataDir: string;
  /** The secret keys; the first signs messages. */
  keys: readonly string[];
  domain?: 'test' | 'live';
  /** Where messages go; null sends none. */
  webhookUrl?: string | null;
  port?: number;
  /** Our balance at the start, in kobo. */
  balance?: number;
  /** Pause before a change that happens by itself. */
  stepMs?: number;
  /** True: every transfer waits for a code that is sent to the operator. */
  otp?: boolean;
  /** A file to which each request is appended, for the comparison with the official document. */
  recordTo?: string | undefined;
};

/** The parts that the routes of the fake share. */
export type Context = ReturnType<typeof createContext>;

/** Creates the shared parts of a fake. */
export function createContext(store: Store, plans: Plans, options: PaystackOptions) {
  const domain = options.domain ?? 'test';
  return {
    store,
    plans,
    domain,
    /** Records that are written as those of the other environment. */
    otherDomain: domain === 'test' ? 'live' : 'test',
    stepMs: options.stepMs ?? 50,
    hasOtp: options.otp ?? false,
    /** The form of the messages about refunds; null gives each refund one of its own. */
    refundForm: { value: null as RefundForm | null },
    recipients: store.table<Recipient>('recipients'),
    /** The recipient of an account, by bank and account. */
    accounts: store.table<string>('accounts'),
    transfers: store.table<Transfer>('transfers'),
    authorizations: store.table<Authorization>('authorizations'),
    transactions: store.table<Transaction>('transactions'),
    mandates: store.table<Mandate>('mandates'),
    /** The reference of a transaction, by its number. */
    numbers: store.table<string>('numbers'),
    customers: store.table<Customer>('customers'),
    dedicated: store.table<DedicatedAccount>('dedicated'),
    refunds: store.table<Refund>('refunds'),
    disputes: store.table<Dispute>('disputes'),
    outgoing: store.table<Outgoing>('outgoing'),
    planned: store.table<Planned>('planned'),
    marks: store.table<number>('marks'),
    id: (kind: string) => store.count(kind, 1_000_000),
    now: () => new Date().toISOString(),
    /** True the first `times` times that it is asked for a mark. */
    isFirst(mark: string, times = 1): boolean {
      const seen = this.marks.get(mark) ?? 0;
      if (seen >= times) return false;
      this.marks.put(mark, seen + 1);
      return true;
    },
  };
}
