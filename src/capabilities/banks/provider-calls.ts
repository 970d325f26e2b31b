import { createKeptList, createSharedEnquiry } from '../../shared/cached-answers.js';
import type {
  NameEnquiryAnswer,
  TransferProvider,
  Bank,
} from '../../core/providers/transfer-provider.js';
import type { RateLimit } from '../../platform/rate-limits/rate-limit.js';
import type { RateLimits } from '../../platform/rate-limits/store.js';
import { safeguardAllowance, type Tenant } from '../../platform/tenants/tenant.js';

/** The answer to a name enquiry. Without one, the bank's name is that of the list of banks, or null if no listed bank has the code. */
export type AccountName =
  | Exclude<NameEnquiryAnswer, { kind: 'no_answer' }>
  | { kind: 'no_answer'; bankName: string | null };

/** Asks the bank for the name of an account. Never throws because the bank is silent: that is `no_answer`. */
export type NameEnquiry = (account: { account: string; bankCode: string }) => Promise<AccountName>;

/**
 * Creates the name enquiry of a provider. A call ends within `timeoutMs`, and concurrent calls for one account share it.
 * A found name is cached for ten minutes in this process. "No such account" is not cached, because the account may be
 * opened at any time.
 */
export function createNameEnquiry(
  provider: Pick<TransferProvider, 'resolveAccount'>,
  timeoutMs: number,
  bankList: BankList,
): NameEnquiry {
  async function enquire(account: { account: string; bankCode: string }): Promise<AccountName> {
    const signal = AbortSignal.timeout(timeoutMs);
    // In parallel, so that a bank that does not answer takes no longer than the enquiry.
    const banks = bankList().catch(() => null);
    const answer = await provider.resolveAccount(account, signal);
    if (answer.kind !== 'no_answer') return answer;
    return withoutName(account, await Promise.race([banks, untilAborted(signal)]));
  }

  return createSharedEnquiry({
    keyOf: ({ account, bankCode }) => `${bankCode}/${account}`,
    ask: enquire,
    isKept: ({ kind }) => kind === 'found',
  });
}

/**
 * Creates the answer for an account without a name enquiry: `no_answer`, with the bank's name if the list of banks is there
 * within `timeoutMs`. The provider is not asked about the account.
 */
export const createUnnamed =
  (timeoutMs: number, bankList: BankList) =>
  async (account: { bankCode: string }): Promise<AccountName> => {
    const banks = bankList().catch(() => null);
    const aborted = untilAborted(AbortSignal.timeout(timeoutMs));
    return withoutName(account, await Promise.race([banks, aborted]));
  };

function withoutName(
  { bankCode }: { bankCode: string },
  banks: readonly Bank[] | null,
): Extract<AccountName, { kind: 'no_answer' }> {
  const bank =
    banks?.find(({ code }) => code === bankCode) ??
    banks?.find(({ nipCode }) => nipCode === bankCode);
  return { kind: 'no_answer', bankName: bank?.name ?? null };
}

const untilAborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });

const CALL_TIMEOUT_MS = 5_000;

/** Returns all banks sorted by name, or null if the provider has never answered. */
export type BankList = () => Promise<readonly Bank[] | null>;

/**
 * Caches the banks that a provider reaches for an hour. Concurrent callers share one call. If the provider does not
 * answer, callers get the old list.
 */
export function createBankList(provider: Pick<TransferProvider, 'listBanks'>): BankList {
  return createKeptList(async () => {
    const answer = await provider.listBanks(AbortSignal.timeout(CALL_TIMEOUT_MS));
    if (answer.kind !== 'banks') return null;
    return answer.banks.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  });
}

/**
 * The limit of answers about account holders that lead to no transfer: such an answer costs nothing, so without a limit
 * every account of a bank could be tried. It is the safeguard `name_enquiry`, counted for the tenant, once for each account.
 */
export type EnquiryLimit = {
  /** True if the limit is known to be used up. Counts nothing. */
  isUsedUp(): boolean;
  /** Counts `times` answers. The result is that of the last one. */
  count(times?: number): Promise<RateLimit>;
};

/** Creates the limit of a tenant. */
export const createEnquiryLimit =
  (rateLimits: Pick<RateLimits, 'take' | 'usedUp'>) =>
  (tenant: Tenant): EnquiryLimit => {
    const subject = `name_enquiry:${tenant.id}`;
    const allowance = safeguardAllowance(tenant, 'name_enquiry');
    return {
      isUsedUp: () => rateLimits.usedUp(subject, allowance) !== null,
      async count(times = 1) {
        const attempts = Array.from({ length: times }, () => rateLimits.take(subject, allowance));
        return (await Promise.all(attempts)).reduce((last, each) =>
          each.allowed && each.remaining >= last.remaining ? last : each,
        );
      },
    };
  };
