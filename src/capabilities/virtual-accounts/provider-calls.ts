import type { FactSource } from '../../core/instructions/fact.js';
import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import type {
  AccountProvider,
  AccountState,
  AssignAnswer,
  VerifyAccountAnswer,
} from '../../core/providers/account-provider.js';
import type { CallTrace, ResendSafety } from '../../core/providers/transfer-provider.js';
import { failpoint } from '../../shared/failpoints.js';
import { dayToRequery } from './requeries.js';
import type { VirtualAccounts } from './store.js';
import type { AccountFact } from './transitions.js';
import type { VirtualAccount } from './record.js';

type Deps = {
  accounts: Pick<VirtualAccounts, 'applyFact' | 'noteRequeried'>;
  providers: { accountProvider(name: string): AccountProvider };
};

/** The calls to the providers of virtual accounts. */
export type AccountCalls = ReturnType<typeof createAccountCalls>;

/**
 * Creates the provider calls of virtual accounts. The record's present instruction decides the call, so that a run of the
 * other instruction that is about to end does no harm.
 */
export function createAccountCalls({ accounts, providers }: Deps) {
  /**
   * Commits the assigned account here and reports only success, because its number must not enter a history. If the commit
   * fails, the activity fails too, and the workflow verifies.
   */
  async function recordAnswer<Answer extends AssignAnswer | VerifyAccountAnswer>(
    account: VirtualAccount,
    via: FactSource['via'],
    answer: Answer,
  ): Promise<ProviderOutcome> {
    const { providerRequestId } = answer;
    if (answer.kind === 'closed') return { kind: 'rejected', code: 'closed', providerRequestId };
    if (answer.kind !== 'assigned') return answer;
    const source = { via, actor: null, providerRequestId, note: null };
    failpoint('account.answered');
    const fact = factOf(answer, source);
    if (fact) await accounts.applyFact(account, fact);
    return { ...SUCCEEDED, providerRequestId };
  }

  /**
   * Has the provider report the deposits of an account once more before it is closed, in case a message was lost. The closing
   * does not wait for it: the scheduled search asks again, until the day after.
   */
  async function requeryBeforeClosing(
    account: VirtualAccount,
    provider: AccountProvider,
    signal: AbortSignal,
  ): Promise<void> {
    const { account_number: accountNumber, face } = account;
    if (!provider.requery || accountNumber === null || face === null) return;
    const day = dayToRequery(account, new Date());
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(REQUERY_WITHIN_MS)]);
    const { kind } = await provider.requery({ accountNumber, handle: face.handle, day }, bounded);
    failpoint('closing.requeried');
    if (kind === 'requested') await accounts.noteRequeried({ ...account, day });
  }

  return {
    resendSafetyOf: ({ instruction, provider }: VirtualAccount): ResendSafety =>
      instruction === 'close'
        ? { kind: 'idempotent', forMs: null }
        : providers.accountProvider(provider).accounts.assigning,

    async submit(
      account: VirtualAccount,
      requestedAt: Date,
      signal: AbortSignal,
    ): Promise<ProviderOutcome> {
      const { _id: reference, customer: holder, account_name: accountName } = account;
      const { bank_code: bankCode, currency } = account;
      const provider = providers.accountProvider(account.provider);
      if (account.instruction === 'close') {
        const handle = account.face?.handle ?? reference;
        await requeryBeforeClosing(account, provider, signal);
        const answer = await provider.close({ reference, handle, requestedAt }, signal);
        const { kind, providerRequestId } = answer;
        return kind === 'closed' ? { ...SUCCEEDED, providerRequestId } : notClosed(answer);
      }
      const request = { reference, holder, accountName, bankCode, currency, requestedAt };
      return recordAnswer(account, 'provider_answer', await provider.assign(request, signal));
    },

    async verify(account: VirtualAccount, signal: AbortSignal): Promise<ProviderOutcome> {
      const provider = providers.accountProvider(account.provider);
      const about = { reference: account._id, handle: account.face?.handle ?? null };
      const answer = await provider.verifyAccount(about, signal);
      if (account.instruction === 'assign') return recordAnswer(account, 'poll', answer);
      const { kind, providerRequestId } = answer;
      if (kind === 'closed') return { ...SUCCEEDED, providerRequestId };
      // Still open: the request to close it is repeated.
      return kind === 'assigned' ? { kind: 'not_found', providerRequestId } : notClosed(answer);
    },
  };
}

/** A requery leaves most of the time of the submission to the closing itself. */
const REQUERY_WITHIN_MS = 1_000;

const SUCCEEDED = { kind: 'succeeded', amountMinor: null, sessionId: null } as const;

/** An answer that does not prove the closing. "Not found" proves nothing: the provider had assigned the account. */
function notClosed<Answer extends CallTrace & { kind: string }>(answer: Answer) {
  const { providerRequestId } = answer;
  const unclear = { kind: 'unknown', reason: 'unreadable', providerRequestId } as const;
  return (answer.kind === 'not_found' ? unclear : answer) as ProviderOutcome;
}

/** The fact in a provider's report about an account, or null if it decides nothing. */
export function factOf(state: AccountState, source: FactSource): AccountFact | null {
  switch (state.kind) {
    case 'pending':
      return null;
    case 'assigned':
      return { ...source, instruction: 'assign', ...state };
    case 'rejected':
      return { ...source, instruction: 'assign', kind: 'rejected', code: state.code };
    case 'closed':
      return {
        ...source,
        instruction: 'close',
        kind: 'succeeded',
        amountMinor: null,
        sessionId: null,
      };
  }
}
