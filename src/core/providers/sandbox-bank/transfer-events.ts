import type { MessageReading, SafeFields } from '../provider-message.js';
import type { TransferEvent } from '../transfer-provider.js';
import { readEnvelope } from './envelope.js';
import { paymentState, transferData } from './wire.js';

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

/** The events of other ports, which have the same address. */
const OTHER_PORTS = /^(charge|refund|setup|check|bill|account|deposit)\./;

/** Reads an authentic message of the bank about transfers. Never throws. */
export function readTransferMessage(
  body: unknown,
  hash: () => string,
): MessageReading<TransferEvent> {
  const message = readEnvelope(body, hash, (event) => OTHER_PORTS.test(event));
  if (message.kind !== 'own') return message;
  const { dedupeKey, name, occurredAt, data } = message;
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
      occurredAt,
    },
  };
}
