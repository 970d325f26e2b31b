import type { AccountEvent } from '../../core/providers/account-provider.js';
import {
  applied,
  sourceOf,
  splitReference,
  type Applied,
  type ProviderEventHandler,
} from '../../core/provider-events/handler.js';
import type { VirtualAccounts } from '../virtual-accounts/index.js';
import type { Deposit } from './record.js';
import type { DepositCalls } from './provider-calls.js';
import type { Deposits } from './store.js';

type Deps = {
  deposits: {
    store: Pick<Deposits, 'ofProvider' | 'applyFact'>;
    providerCalls: Pick<DepositCalls, 'report'>;
    starter: {
      startSoon(deposit: Deposit): void;
      notifyChangedSoon(deposit: Deposit): void;
    };
  };
  virtualAccounts: { store: Pick<VirtualAccounts, 'withNumber'> };
};

/** Attempts to find the account of a deposit. A provider may report a deposit before it has told us the account's number. */
const ATTEMPTS = 2;

/** Applies the events of providers to deposits. A message only makes us ask: the provider's answer decides. */
export const depositEventHandler = ({
  deposits: { store, providerCalls, starter },
  virtualAccounts,
}: Deps): ProviderEventHandler => ({
  port: 'accounts',
  subjects: ['deposit'],
  toFacts(event) {
    const { about } = event as AccountEvent;
    if (about.subject !== 'deposit') return [];
    const { id, kind, amountMinor, accountNumber } = about;
    const state = { kind, amount_minor: amountMinor };
    const { secret: hidden } = splitReference(id);
    const secret = { ...(accountNumber !== null && { accountNumber }), ...hidden };
    const isSealed = Object.keys(secret).length > 0;
    return [{ subject: 'deposit', reference: id, state, ...(isSealed && { secret }) }];
  },
  async apply(fact, event) {
    const reference = fact.reference ?? (fact.secret?.['reference'] as string | undefined);
    if (reference === undefined) return UNREADABLE;
    const known = await store.ofProvider(event.provider, reference);
    if (fact.state.kind === 'refund_failed') return refundFailed(known);
    if (known && fact.state.kind === 'received') {
      starter.notifyChangedSoon(known);
      return applied('unchanged');
    }
    if (known) {
      const doubted = { ...sourceOf(event), instruction: 'confirm', kind: 'doubted' } as const;
      const result = await store.applyFact(known, doubted);
      if (result.kind === 'fact') starter.startSoon(result.deposit);
      return applied(result.kind === 'fact' ? result.verdict : result.kind);
    }
    const accountNumber = fact.secret?.['accountNumber'] as string | undefined;
    if (accountNumber === undefined) return UNREADABLE;
    const receivedAt = event.occurred_at ?? event.received_at;
    const { provider } = event;
    const account = await virtualAccounts.store.withNumber(provider, accountNumber, receivedAt);
    if (!account && event.attempt_count < ATTEMPTS) return UNKNOWN_ACCOUNT;
    await providerCalls.report(provider, {
      id: reference,
      accountNumber,
      amountMinor: (fact.state['amount_minor'] as bigint | null) ?? null,
      receivedAt,
      via: 'webhook',
      detail: 'the provider reports the deposit',
    });
    return applied('recorded');
  },
});

/**
 * A refund that staff made did not reach the sender, so its money is with us again. That calls an operator if the deposit was
 * taken back for it, which may be booked only after this message.
 */
const refundFailed = (deposit: Pick<Deposit, 'state'> | null): Applied => ({
  kind: 'unknown',
  reason: 'refund_failed',
  ends: deposit?.state === 'credited' || deposit?.state === 'suspended' ? 'ignored' : 'failed',
});

const UNKNOWN_ACCOUNT = { kind: 'unknown', reason: 'unknown_account', ends: 'failed' } as const;
const UNREADABLE = { kind: 'unknown', reason: 'unreadable_deposit', ends: 'failed' } as const;
