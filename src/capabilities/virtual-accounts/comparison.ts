import type {
  AccountProvider,
  VerifyAccountAnswer,
} from '../../core/providers/account-provider.js';
import {
  reconciledBy,
  verdictOf,
  type ComparedRecords,
  type Described,
  type Reconciled,
} from '../../core/reconciliation/comparison.js';
import { recordsSince } from '../../core/reconciliation/pages.js';
import { kindOf, reconciliationSource } from '../../core/reconciliation/payment-answers.js';
import type { Database } from '../../platform/database/client.js';
import { accountRateLimitKey } from '../../platform/temporal/queues.js';
import { factOf } from './provider-calls.js';
import { STATE_INDEXES, type VirtualAccount } from './record.js';
import type { VirtualAccounts } from './store.js';

type Deps = {
  virtualAccounts: {
    store: Pick<VirtualAccounts, 'get' | 'applyFact'>;
    starter: { notifyChangedSoon(account: VirtualAccount): void };
  };
  database: Pick<Database, 'db'>;
  providers: { accountProvider(name: string): AccountProvider };
};

/** Only the message of its closing changes an active account, so all others are left out. */
const ACTIVE = { filter: { state: 'active' as const }, index: STATE_INDEXES.created_at };

/** Before the first account. */
const EVER = new Date(0);

/**
 * Active accounts, as they are compared with their providers: one that the provider has closed is closed here. An account
 * lives for years, so a scheduled run compares those of any age; the command compares those that were created since a time.
 */
export function reconciledAccounts(deps: Deps): Reconciled {
  const collection = deps.database.db.collection<VirtualAccount>('virtual_accounts');
  const records = compared(deps);
  const since = reconciledBy(records, (scope, from) =>
    recordsSince(collection, scope, from, ACTIVE),
  );
  const ever = reconciledBy(records, (scope, from) =>
    recordsSince(collection, { ...scope, since: EVER }, from, ACTIVE),
  );
  return { ...since, reconcilePage: (...page) => ever.reconcilePage(...page) };
}

const compared = ({
  virtualAccounts: { store, starter },
  providers,
}: Deps): ComparedRecords<VirtualAccount, VerifyAccountAnswer> => ({
  kind: 'virtual-accounts',
  rateLimitKey: accountRateLimitKey,
  get: store.get,
  ask({ _id: reference, face, provider }, signal) {
    const about = { reference, handle: face?.handle ?? null };
    return providers.accountProvider(provider).verifyAccount(about, signal);
  },
  agrees: accountAgrees,
  describe: describeAccount,
  async apply(account, answer) {
    const { kind, providerRequestId } = answer;
    if (kind === 'not_found' || kind === 'unknown') return null;
    const fact = factOf(answer, reconciliationSource(account.provider, providerRequestId));
    if (fact === null) return null;
    await store.applyFact(account, fact);
    const changed = await store.get(account.tenant_id, account._id);
    starter.notifyChangedSoon(changed ?? account);
    return verdictOf(account, changed);
  },
});

/** True if the provider's answer allows the state of an account. Workflows ask about those that are not active. */
const accountAgrees = (
  { state, account_number: number }: VirtualAccount,
  answer: VerifyAccountAnswer,
): boolean => state !== 'active' || (answer.kind === 'assigned' && answer.accountNumber === number);

const WORDS: Record<VerifyAccountAnswer['kind'], string> = {
  assigned: 'another account',
  pending: 'not assigned',
  rejected: 'refused',
  closed: 'closed',
  not_found: 'unknown',
  unknown: 'silent',
};

const describeAccount = ({ state }: VirtualAccount, answer: VerifyAccountAnswer): Described => ({
  breakKind: kindOf(answer, false),
  amountMinor: 0n,
  ours: state,
  difference: `${state} with us, ${WORDS[answer.kind]} at the bank`,
});
