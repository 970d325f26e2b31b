import type { MessageReading, SafeFields } from '../provider-message.js';
import type { TransferEvent } from '../transfer-provider.js';
import { eventBody, IRRELEVANT_EVENTS, nameOf, paymentState, transferData } from './wire.js';

const STATUS_OF_EVENT = new Map([
  ['transfer.paid', 'paid'],
  ['transfer.refused', 'refused'],
  ['transfer.reversed', 'reversed'],
  ['transfer.pending', 'pending'],
] as const);

/** The fields of the bank's messages about transfers that hold nothing of a customer. */
export const TRANSFER_SAFE_FIELDS: SafeFields = {
  id: 'value',
  event: 'value',
  occurred_at: 'value',
  reference: 'value',
  status: 'value',
  amount_minor: 'value',
  currency: 'value',
  session_id: 'value',
  code: 'value',
};

/** Reads an authentic message of the bank about transfers. Never throws. */
export function readTransferMessage(
  body: unknown,
  hash: () => string,
): MessageReading<TransferEvent> {
  const parsed = eventBody.safeParse(body);
  if (!parsed.success) return { kind: 'unreadable', dedupeKey: hash(), name: nameOf(body) };
  const { id: dedupeKey, event: name, occurred_at, data, environment } = parsed.data;
  if (/^(charge|refund|setup|check|bill|account|deposit)\./.test(name))
    return { kind: 'other_port', dedupeKey, name };
  // It concerns nothing of ours: an operator looks at it.
  if (environment !== undefined) return { kind: 'unreadable', dedupeKey, name };
  if (IRRELEVANT_EVENTS.has(name)) return { kind: 'irrelevant', dedupeKey, name };
  const status = STATUS_OF_EVENT.get(name as 'transfer.paid');
  if (!status) return { kind: 'unreadable', dedupeKey, name };
  const about = transferData.safeParse(data);
  // By its hash: the provider may send the event again under the same id, corrected.
  if (!about.success) return { kind: 'unreadable', dedupeKey: hash(), name };
  const state = paymentState(status, about.data);
  if (state.kind === 'unknown') return { kind: 'unreadable', dedupeKey: hash(), name };
  return {
    kind: 'event',
    event: {
      dedupeKey,
      reference: about.data.reference,
      name,
      state,
      occurredAt: new Date(occurred_at),
    },
  };
}
