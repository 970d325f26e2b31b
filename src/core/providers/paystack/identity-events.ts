import { z } from 'zod';
import type { PaystackSettings } from '../../../shared/paystack-settings.js';
import { isId } from '../../../shared/ids.js';
import type { CheckState, IdentityEvent } from '../identity-provider.js';
import type { Rejected } from '../port.js';
import type { MessageReader, MessageReading } from '../provider-message.js';
import { referenceIn, type CustomerSettings } from './customers.js';
import { email, plain, text } from './fields.js';
import { createReader, type Message } from './messages.js';

const resultData = z.looseObject({ email, reason: text });

/** The whole texts of a failed check that are about the data. Any other says that they could not be compared. */
const MISMATCHES: ReadonlySet<string> = new Set([
  'account number or bvn is incorrect',
  'account number and bvn do not match',
]);

/** The reader of Paystack's messages about identity checks. */
export const createIdentityReader = (
  settings: Pick<PaystackSettings, 'keys'> & CustomerSettings,
): Pick<MessageReader<IdentityEvent>, 'readMessage' | 'readStored'> =>
  createReader(settings, 'identity', (message) => readResult(message, settings));

function readResult(
  { event: name, dedupeKey, data }: Message,
  settings: CustomerSettings,
): MessageReading<IdentityEvent> {
  const parsed = resultData.safeParse(data);
  if (!parsed.success) return { kind: 'unreadable', dedupeKey, name };
  const reference = referenceIn(parsed.data.email, settings);
  // A customer that was validated elsewhere, such as on the dashboard.
  if (reference === null || !isId('identityCheck', reference)) {
    return { kind: 'irrelevant', dedupeKey, name };
  }
  const state = stateOf(name, parsed.data.reason);
  return { kind: 'event', event: { dedupeKey, reference, name, state, occurredAt: null } };
}

function stateOf(name: string, reason: string | null | undefined): CheckState | Rejected {
  if (name === 'customeridentification.success') return { kind: 'verified' };
  return MISMATCHES.has(plain(reason))
    ? { kind: 'rejected', code: 'account_mismatch' }
    : { kind: 'rejected', code: 'not_checked', scope: 'instruction' };
}
