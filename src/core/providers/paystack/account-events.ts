import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import { isId } from '../../../shared/ids.js';
import type { AccountEvent, AccountState } from '../account-provider.js';
import type { MessageReader, MessageReading } from '../provider-message.js';
import { accountData, assignmentData, faceOf } from './account-wire.js';
import { referenceIn, type CustomerSettings } from './customers.js';
import { depositIn } from './deposit-wire.js';
import { dateOf } from './fields.js';
import { createReader, type Message } from './messages.js';
import { chargeReferences } from './references.js';
import { refundData, transactionOf } from './refund-wire.js';
import { depositMarkerIn } from './return-calls.js';

/** The reader of Paystack's messages about virtual accounts, deposits, and money that nobody here has asked for. */
export const createAccountReader = (
  settings: Pick<PaystackSettings, 'keys'> & CustomerSettings,
): Pick<MessageReader<AccountEvent>, 'readMessage' | 'readStored'> =>
  createReader(
    settings,
    'accounts',
    (message) =>
      readersOf(settings)[message.event.split('.')[0] ?? '']?.(message) ?? unreadable(message),
  );

type Read = (message: Message) => MessageReading<AccountEvent>;

const readersOf = (settings: CustomerSettings): Record<string, Read | undefined> => ({
  charge: readDeposit,
  refund: readRefund,
  dedicatedaccount: (message) => readAssignment(message, settings),
});

const unreadable = ({ event: name, dedupeKey }: Message) =>
  ({ kind: 'unreadable', dedupeKey, name }) as const;

/** A message is a claim: the amount and the account count once Paystack has confirmed them. */
function readDeposit(message: Message): MessageReading<AccountEvent> {
  const { event: name, dedupeKey, data } = message;
  const deposit = depositIn(data);
  if (deposit === 'charge') return { kind: 'other_port', dedupeKey, name };
  if (deposit === null) return unreadable(message);
  const { kind, id, accountNumber, amountMinor, receivedAt: occurredAt } = deposit;
  const about = { subject: 'deposit', id, kind, accountNumber, amountMinor } as const;
  return { kind: 'event', event: { dedupeKey, name: `deposit.${kind}`, about, occurredAt } };
}

/**
 * A refund of money that was no charge's. Returns that we made are asked about by their own workflow; one that fails after it
 * was made needs an operator. One that was made on the dashboard makes us ask for the deposit, and its failure calls an
 * operator.
 */
function readRefund(message: Message): MessageReading<AccountEvent> {
  const { event: name, dedupeKey, data } = message;
  const parsed = refundData.safeParse(data);
  const id = parsed.success ? transactionOf(parsed.data).reference : null;
  if (!parsed.success || id === null) return unreadable(message);
  if (chargeReferences.toOurs(id) !== null) return { kind: 'other_port', dedupeKey, name };
  const isOurs = depositMarkerIn(parsed.data) !== null;
  if (isOurs && !UNDER_WAY.has(name)) return unreadable(message);
  const ended = isOurs ? undefined : ENDED.get(name);
  if (!ended) return { kind: 'irrelevant', dedupeKey, name };
  const { kind } = ended;
  const about = { subject: 'deposit', id, kind, accountNumber: null, amountMinor: null } as const;
  const occurredAt = dateOf(parsed.data.updatedAt, parsed.data.updated_at);
  return { kind: 'event', event: { dedupeKey, name: ended.name, occurredAt, about } };
}

/** The events of the end of a refund that staff made. */
const ENDED: ReadonlyMap<string, { name: string; kind: 'reversed' | 'refund_failed' }> = new Map([
  ['refund.processed', { name: 'deposit.refunded', kind: 'reversed' }],
  ['refund.failed', { name: 'deposit.refund_failed', kind: 'refund_failed' }],
]);

/** The events of a return that goes well. */
const UNDER_WAY: ReadonlySet<string> = new Set([
  'refund.pending',
  'refund.processing',
  'refund.processed',
]);

function readAssignment(
  message: Message,
  settings: CustomerSettings,
): MessageReading<AccountEvent> {
  const { event: name, dedupeKey, data } = message;
  const parsed = assignmentData.safeParse(data);
  if (!parsed.success || parsed.data.customer?.email == null) return unreadable(message);
  const reference = referenceIn(parsed.data.customer.email, settings);
  // An account that was opened elsewhere, such as on the dashboard.
  if (reference === null || !isId('virtualAccount', reference)) {
    return { kind: 'irrelevant', dedupeKey, name };
  }
  const state = stateOf(name, parsed.data.dedicated_account);
  if (state === null) return unreadable(message);
  const about = { subject: 'account', reference, state } as const;
  return { kind: 'event', event: { dedupeKey, name, about, occurredAt: null } };
}

function stateOf(name: string, account: unknown): AccountState | null {
  if (name === 'dedicatedaccount.assign.failed') return { kind: 'rejected', code: 'not_eligible' };
  const parsed = accountData.safeParse(account);
  return parsed.success ? faceOf(parsed.data) : null;
}
