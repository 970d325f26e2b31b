import type { IdentityEvent } from '../identity-provider.js';
import type { MessageReading, SafeFields } from '../provider-message.js';
import { checkAnswer, checkState } from './identity-wire.js';
import { readEnvelope } from './envelope.js';

/** The status that the check must have, by the name of the event. */
const STATUS_OF_EVENT = new Map([
  ['check.verified', 'verified'],
  ['check.rejected', 'rejected'],
  ['check.failed', 'failed'],
]);

/** The fields of the bank's messages about checks. None of them holds anything of a customer. */
export const IDENTITY_SAFE_FIELDS: SafeFields = {
  id: 'value',
  event: 'value',
  environment: 'value',
  occurred_at: 'value',
  reference: 'own_id',
  client_reference: 'own_id',
  check_type: 'value',
  status: 'value',
  code: 'value',
};

/** Reads an authentic message of the bank about identity checks. Never throws. */
export function readIdentityMessage(
  body: unknown,
  hash: () => string,
): MessageReading<IdentityEvent> {
  const message = readEnvelope(body, hash, (event) => !event.startsWith('check.'));
  if (message.kind !== 'own') return message;
  const { dedupeKey, name, occurredAt, data } = message;
  const status = STATUS_OF_EVENT.get(name);
  if (status === undefined) return { kind: 'unreadable', dedupeKey, name };
  const check = checkAnswer.safeParse(data);
  const state = check.success && check.data.status === status ? checkState(check.data) : null;
  // By its hash: the provider may send the event again under the same id, corrected.
  if (!check.success || !state) return { kind: 'unreadable', dedupeKey: hash(), name };
  const { reference } = check.data;
  return { kind: 'event', event: { dedupeKey, reference, name, state, occurredAt } };
}
