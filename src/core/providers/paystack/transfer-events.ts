import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import type { MessageReader, MessageReading } from '../provider-message.js';
import type { TransferEvent } from '../transfer-provider.js';
import { dateOf } from './fields.js';
import { createReader, type Message } from './messages.js';
import { transferReferences } from './references.js';
import { transferData, transferState } from './transfer-wire.js';

/** The state that each event must have. A message that contradicts its own name is not read. */
const STATES: Readonly<Record<string, string>> = {
  'transfer.success': 'succeeded',
  'transfer.failed': 'rejected',
  'transfer.reversed': 'reversed',
};

/** The reader of Paystack's messages about transfers. */
export const createTransferReader = (
  settings: Pick<PaystackSettings, 'keys' | 'domain'>,
): Pick<MessageReader<TransferEvent>, 'readMessage' | 'readStored'> =>
  createReader(settings, 'transfers', readEvent);

function readEvent({ event: name, dedupeKey, data }: Message): MessageReading<TransferEvent> {
  const unreadable = { kind: 'unreadable', dedupeKey, name } as const;
  const parsed = transferData.safeParse(data);
  if (!parsed.success || parsed.data.currency !== 'NGN') return unreadable;
  const reference = transferReferences.toOurs(parsed.data.reference);
  const state = transferState(parsed.data);
  // A transfer that was made elsewhere, such as on the dashboard.
  if (reference === null) return unreadable;
  if (state.kind === 'unknown' || state.kind !== STATES[name]) return unreadable;
  const occurredAt = dateOf(parsed.data.updatedAt, parsed.data.updated_at);
  return { kind: 'event', event: { dedupeKey, reference, name, state, occurredAt } };
}
