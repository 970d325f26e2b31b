import type { ProviderOutcome } from '../../core/instructions/provider-outcome.js';
import type { AccountProvider, VerifyReturnAnswer } from '../../core/providers/account-provider.js';
import type { ResendSafety } from '../../core/providers/port.js';
import { failpoint } from '../../shared/failpoints.js';
import type { VirtualAccounts } from '../virtual-accounts/index.js';
import { depositId, isUnbooked, submittedReturn, UNOWNED, type Deposit } from './record.js';
import type { Deposits } from './store.js';
import type { DepositTerms } from './suspense.js';
import { isOtherReturn, OTHER_CURRENCY, RETURNED_OTHER_AMOUNT } from './transitions.js';

type Deps = {
  deposits: Deposits;
  accounts: Pick<VirtualAccounts, 'withNumber'>;
  providers: { accountProvider(name: string): AccountProvider };
  starter: { startSoon(deposit: Deposit): void };
};

/** The calls to the providers of deposits. */
export type DepositCalls = ReturnType<typeof createDepositCalls>;

/** The report of a deposit, before the provider has confirmed it. */
export type DepositReport = {
  id: string;
  accountNumber: string;
  amountMinor: bigint | null;
  receivedAt: Date;
  via: 'webhook' | 'poll';
  detail: string;
};

/** The conditions of deposits at a provider. */
export const termsOf =
  (
    providers: { findAccountProvider(name: string): AccountProvider | undefined },
    maxMinor: bigint,
  ) =>
  (provider: string): DepositTerms => ({
    maxMinor,
    returns: providers.findAccountProvider(provider)?.returnDeposit !== undefined,
  });

/** Creates the provider calls of deposits. The record's present instruction decides the call. */
export function createDepositCalls({ deposits, accounts, providers, starter }: Deps) {
  const confirm = createConfirmation({ deposits, providers, starter });

  return {
    resendSafetyOf: ({ instruction, provider }: Deposit): ResendSafety =>
      instruction === 'confirm'
        ? { kind: 'never' }
        : providers.accountProvider(provider).accounts.returns,

    async submit(
      deposit: Deposit,
      requestedAt: Date,
      signal: AbortSignal,
    ): Promise<ProviderOutcome> {
      if (deposit.instruction === 'confirm') return confirm(deposit, signal);
      const { _id: marker, reference: id, amount_minor: amountMinor } = deposit;
      const provider = providers.accountProvider(deposit.provider);
      if (!provider.returnDeposit || amountMinor === null)
        throw new Error(`${marker} cannot return`);
      const order = { id, amountMinor, marker, orderedAt: deposit.instructed_at, requestedAt };
      const answer = await provider.returnDeposit(order, signal);
      return explainRefusal(provider, deposit, answer, signal);
    },

    async verify(deposit: Deposit, signal: AbortSignal): Promise<ProviderOutcome> {
      if (deposit.instruction === 'confirm') return confirm(deposit, signal);
      const provider = providers.accountProvider(deposit.provider);
      if (!provider.verifyReturn) throw new Error(`${deposit._id} cannot return`);
      const answer = await provider.verifyReturn(aboutReturn(deposit), signal);
      return explainRefusal(provider, deposit, answer, signal);
    },

    /**
     * Records a reported deposit, once, and starts its confirmation. Its tenant is that of the account at the time in the
     * report; a deposit on an account that nobody has belongs to no tenant, and an operator assigns it.
     */
    async report(provider: string, report: DepositReport): Promise<Deposit> {
      const account = await accounts.withNumber(provider, report.accountNumber, report.receivedAt);
      const deposit = await deposits.record({
        id: depositId(provider, report.id),
        tenantId: account?.tenant_id ?? UNOWNED,
        provider,
        reference: report.id,
        accountId: account?._id ?? null,
        accountNumber: report.accountNumber,
        amountMinor: report.amountMinor,
        receivedAt: report.receivedAt,
        via: report.via,
        detail: report.detail,
      });
      starter.startSoon(deposit);
      return deposit;
    },
  };
}

/** The question about the return of a deposit: the present order's, or an earlier one's that did not fail. */
const aboutReturn = (deposit: Deposit) => ({
  id: deposit.reference,
  marker: deposit._id,
  orderedAt: deposit.instructed_at,
  since: submittedReturn(deposit)?.submitted_at ?? deposit.instructed_at,
});

/** The provider's answer about a return that was submitted; null if it does not know of one, or has refused it. */
export async function findReturn(
  provider: AccountProvider,
  deposit: Deposit,
  signal: AbortSignal,
): Promise<Exclude<VerifyReturnAnswer, { kind: 'not_found' | 'rejected' }> | null> {
  const answer = await provider.verifyReturn?.(aboutReturn(deposit), signal);
  return !answer || answer.kind === 'not_found' || answer.kind === 'rejected' ? null : answer;
}

/**
 * A return may be refused because the provider has made it before, or has taken the deposit back meanwhile, so a refusal is
 * followed by look-ups. The provider must rule out an earlier return whose answer was lost.
 */
async function explainRefusal(
  provider: AccountProvider,
  deposit: Deposit,
  answer: ProviderOutcome,
  signal: AbortSignal,
): Promise<ProviderOutcome> {
  if (answer.kind !== 'rejected') return answer;
  const { last_return: last, submissions, rejected_submissions: notTaken } = deposit;
  const hasEarlier = last?.refused === false || submissions - notTaken > 1;
  const earlier = hasEarlier ? await findReturn(provider, deposit, signal) : null;
  if (earlier) return earlier;
  const found = await provider.verifyDeposit(deposit.reference, signal);
  const { providerRequestId } = found;
  if (found.kind === 'reversed') {
    return { kind: 'reversed', amountMinor: null, sessionId: null, providerRequestId };
  }
  if (found.kind === 'unknown') return found;
  return hasEarlier && answer.code === ALREADY_RETURNED
    ? { kind: 'unknown', reason: 'conflict', providerRequestId: answer.providerRequestId }
    : answer;
}

/** The code with which a provider refuses the return of what it has returned, though its list may not show that yet. */
const ALREADY_RETURNED = 'charge_already_refunded';

/** Creates the function that asks the provider for a deposit, and commits its answer. */
function createConfirmation({ deposits, providers, starter }: Omit<Deps, 'accounts'>) {
  /** Commits the provider's answer here, because a number and a name must not enter a history. */
  async function confirm(deposit: Deposit, signal: AbortSignal): Promise<ProviderOutcome> {
    if (deposit.moved_to) return finishMove(deposit);
    const provider = providers.accountProvider(deposit.provider);
    const answer = await provider.verifyDeposit(deposit.reference, signal);
    const { providerRequestId } = answer;
    if (answer.kind === 'reversed') {
      return (
        (await returned(deposit, provider, signal)) ?? {
          kind: 'reversed',
          amountMinor: null,
          sessionId: null,
          providerRequestId,
        }
      );
    }
    if (answer.kind !== 'received') return answer;
    const { id: _, ...told } = answer.deposit;
    const succeeded = { ...SUCCEEDED, providerRequestId };
    failpoint('deposit.answered');
    const source = { via: 'poll', actor: null, providerRequestId, note: null } as const;
    const outcome = await deposits.applyFact(deposit, {
      ...source,
      instruction: 'confirm',
      kind: 'confirmed',
      deposit: told,
    });
    if (outcome.kind === 'fact' && outcome.deposit.instruction === 'return') {
      starter.startSoon(outcome.deposit);
    }
    if (told.currency !== 'NGN') {
      // After an operator has ended it, only a report in naira would change anything.
      if (isUnbooked(deposit) && deposit.state !== 'received') {
        return { kind: 'pending', providerRequestId };
      }
      return { ...succeeded, result: { kind: 'mismatch', attention: OTHER_CURRENCY } };
    }
    // This answer ends the first confirmation alone. A message that came since doubts the deposit, and needs an answer of its own.
    return deposit.state === 'received' ? { kind: 'pending', providerRequestId } : succeeded;
  }

  /** The outcome of a deposit in suspense that the provider shows as reversed because it was returned; null if it was not. */
  async function returned(
    deposit: Deposit,
    provider: AccountProvider,
    signal: AbortSignal,
  ): Promise<ProviderOutcome | null> {
    if (deposit.state !== 'suspended' || submittedReturn(deposit) === null) return null;
    const answer = await findReturn(provider, deposit, signal);
    if (answer?.kind !== 'succeeded') return answer;
    const { providerRequestId, amountMinor } = answer;
    const source = { via: 'poll', actor: null, providerRequestId, note: null } as const;
    const proof = { ...SUCCEEDED, amountMinor };
    await deposits.applyFact(deposit, { ...source, instruction: 'return', ...proof });
    const succeeded = { ...SUCCEEDED, providerRequestId };
    return isOtherReturn(deposit, amountMinor)
      ? { ...succeeded, result: { kind: 'mismatch', attention: RETURNED_OTHER_AMOUNT } }
      : succeeded;
  }

  /** Completes the move of a deposit to another tenant, whose first half is committed. */
  async function finishMove(deposit: Deposit): Promise<ProviderOutcome> {
    const by = { via: 'operator', detail: 'an operator assigned the deposit' } as const;
    const moved = await deposits.recordMoved(deposit, by);
    if (moved) starter.startSoon(moved);
    const source = { via: 'operator', actor: null, providerRequestId: null, note: null } as const;
    await deposits.applyFact(deposit, {
      ...source,
      instruction: 'confirm',
      kind: 'move_completed',
    });
    return { ...SUCCEEDED, providerRequestId: null };
  }

  return confirm;
}

const SUCCEEDED = { kind: 'succeeded', amountMinor: null, sessionId: null } as const;
