import type { AccountEvent } from '../account-provider.js';
import type { MessageReading, SafeFields } from '../provider-message.js';
import { accountAnswer, accountState, depositData } from './account-wire.js';
import { readEnvelope } from './envelope.js';

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
  const message = readEnvelope(body, hash, (event) => !/^(account|deposit)\./.test(event));
  if (message.kind !== 'own') return message;
  const { dedupeKey, name, occurredAt, data } = message;
  const about = name.startsWith('account.') ? readAccount(data, name) : readDeposit(data, name);
  if (!about) return { kind: 'unreadable', dedupeKey: hash(), name };
  return { kind: 'event', event: { dedupeKey, name, about, occurredAt } };
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
