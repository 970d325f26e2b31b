import type { AccountEvent } from '../account-provider.js';
import type { MessageReading, SafeFields } from '../provider-message.js';
import { accountAnswer, accountState, depositData } from './account-wire.js';
import { eventBody, IRRELEVANT_EVENTS, nameOf } from './wire.js';

/** The status that the account must have, by the name of the event. */
const STATUS_OF_EVENT = new Map([
  ['account.opened', 'assigned'],
  ['account.refused', 'refused'],
  ['account.closed', 'closed'],
]);

/** The fields that hold nothing of a customer. An account number is not among them. */
export const ACCOUNT_SAFE_FIELDS: SafeFields = {
  id: 'value',
  event: 'value',
  occurred_at: 'value',
  environment: 'value',
  reference: 'own_id',
  status: 'value',
  code: 'value',
  deposit: 'value',
  amount_minor: 'value',
  currency: 'value',
};

/** Reads an authentic message about an account or a deposit. Never throws. */
export function readAccountMessage(
  body: unknown,
  hash: () => string,
): MessageReading<AccountEvent> {
  const parsed = eventBody.safeParse(body);
  if (!parsed.success) return { kind: 'unreadable', dedupeKey: hash(), name: nameOf(body) };
  const { id: dedupeKey, event: name, occurred_at, data, environment } = parsed.data;
  const isOurs = name.startsWith('account.') || name.startsWith('deposit.');
  if (!isOurs) {
    return IRRELEVANT_EVENTS.has(name)
      ? { kind: 'irrelevant', dedupeKey, name }
      : { kind: 'other_port', dedupeKey, name };
  }
  // A message of the other environment says nothing about this one's money.
  if (environment !== undefined) return { kind: 'irrelevant', dedupeKey, name };
  const about = name.startsWith('account.') ? readAccount(data, name) : readDeposit(data, name);
  if (!about) return { kind: 'unreadable', dedupeKey: hash(), name };
  return {
    kind: 'event',
    event: { dedupeKey, name, about, occurredAt: new Date(occurred_at) },
  };
}

function readAccount(data: unknown, name: string): AccountEvent['about'] | null {
  const parsed = accountAnswer.safeParse(data);
  const status = STATUS_OF_EVENT.get(name);
  if (!parsed.success || parsed.data.status !== status) return null;
  const { reference } = parsed.data;
  return { subject: 'account', reference, state: accountState(parsed.data) };
}

function readDeposit(data: unknown, name: string): AccountEvent['about'] | null {
  const kinds = { 'deposit.received': 'received', 'deposit.reversed': 'reversed' } as const;
  const kind = kinds[name as keyof typeof kinds];
  const parsed = depositData.safeParse(data);
  if (!parsed.success || kind === undefined) return null;
  const { deposit: id, account_number: accountNumber, amount_minor: amount } = parsed.data;
  const amountMinor = amount > 0 ? BigInt(amount) : null;
  return { subject: 'deposit', id, kind, accountNumber, amountMinor };
}
