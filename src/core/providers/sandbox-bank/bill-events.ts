import { z } from 'zod';
import type { BillEvent } from '../bill-provider.js';
import type { MessageReading, SafeFields } from '../provider-message.js';
import { billAnswer, billState } from './bill-wire.js';
import { readEnvelope } from './envelope.js';

/** The status that the bill must have, by the name of the event. */
const STATUS_OF_EVENT = new Map([
  ['bill.pending', 'pending'],
  ['bill.paid', 'paid'],
  ['bill.refused', 'refused'],
  ['bill.reversed', 'reversed'],
]);

/** The events of other ports, which have the same address. */
const OTHER_PORTS = /^(transfer|charge|refund|setup|check|account|deposit)\./;

/** The fields of the bank's messages about bills that hold nothing of a customer. A token is a secret. */
export const BILL_SAFE_FIELDS: SafeFields = {
  id: 'value',
  event: 'value',
  environment: 'value',
  occurred_at: 'value',
  reference: 'value',
  status: 'value',
  amount_minor: 'value',
  currency: 'value',
  code: 'value',
};

/** Reads an authentic message of the bank about bills. Never throws. */
export function readBillMessage(body: unknown, hash: () => string): MessageReading<BillEvent> {
  const message = readEnvelope(body, hash, (event) => OTHER_PORTS.test(event));
  if (message.kind !== 'own') return message;
  const { dedupeKey, name, occurredAt, data } = message;
  const status = STATUS_OF_EVENT.get(name);
  if (status === undefined) return { kind: 'unreadable', dedupeKey, name };
  const about = billAnswer.safeParse(data);
  // By its hash: the provider may send the event again under the same id, corrected.
  if (!about.success || about.data.status !== status) {
    return { kind: 'unreadable', dedupeKey: hash(), name };
  }
  return {
    kind: 'event',
    event: {
      dedupeKey,
      reference: about.data.reference,
      name,
      state: billState(about.data),
      occurredAt,
    },
  };
}

/** Reads the masked copy of such a message. Its receipt is masked, so the payment alone is read. */
export function readStoredBillMessage(message: unknown): MessageReading<BillEvent> {
  const parsed = z.looseObject({ data: z.looseObject({}) }).safeParse(message);
  if (!parsed.success) return readBillMessage(message, () => '');
  const data = { ...parsed.data.data, receipt: null };
  return readBillMessage({ ...parsed.data, data }, () => '');
}
