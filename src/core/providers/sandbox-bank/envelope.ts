import { z } from 'zod';
import type { MessageReading } from '../provider-message.js';

const eventBody = z.object({
  id: z.string().min(1).max(200),
  event: z.string(),
  environment: z.string().max(100).optional(),
  occurred_at: z.iso.datetime({ offset: true }),
  data: z.unknown(),
});

/** Events that nothing follows from at any port. */
const IRRELEVANT_EVENTS: ReadonlySet<string> = new Set(['bank.notice']);

/** A message of a port, without its data read. */
export type OwnMessage = {
  kind: 'own';
  dedupeKey: string;
  name: string;
  occurredAt: Date;
  data: unknown;
};

/**
 * Reads the envelope of an authentic message of the bank, as all ports read it: a message of another environment has no effect
 * and calls an operator, whatever its event. `isOthers`: whether an event is of another port. Never throws.
 */
export function readEnvelope(
  body: unknown,
  hash: () => string,
  isOthers: (name: string) => boolean = () => false,
): OwnMessage | Exclude<MessageReading<never>, { kind: 'event' | 'bad_signature' }> {
  const parsed = eventBody.safeParse(body);
  if (!parsed.success) return { kind: 'unreadable', dedupeKey: hash(), name: nameOf(body) };
  const { id: dedupeKey, event: name, occurred_at, data, environment } = parsed.data;
  const isIrrelevant = IRRELEVANT_EVENTS.has(name);
  if (!isIrrelevant && isOthers(name)) return { kind: 'other_port', dedupeKey, name };
  if (environment !== undefined) return { kind: 'unreadable', dedupeKey, name };
  if (isIrrelevant) return { kind: 'irrelevant', dedupeKey, name };
  return { kind: 'own', dedupeKey, name, occurredAt: new Date(occurred_at), data };
}

/** The event's name in a message that cannot be read otherwise. */
function nameOf(body: unknown): string | null {
  const parsed = z.object({ event: z.string() }).safeParse(body);
  return parsed.success ? parsed.data.event : null;
}
