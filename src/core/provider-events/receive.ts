import { failpoint } from '../../shared/failpoints.js';
import { newId } from '../../shared/ids.js';
import type { Log } from '../../shared/log.js';
import type { StorableReading } from '../providers/provider-message.js';
import type { Port, PortEvents } from '../providers/registry.js';
import type { ProviderEventApplication } from './apply.js';
import type { ProviderEventFacts } from './facts.js';
import { eventLogIds, newProviderEvent, type ProviderEvent } from './event.js';
import { safeType, type MaskedMessage } from './message.js';
import type { ProviderEventStore } from './store.js';

/** An authentic message: the port that reads it, its reading, and the copy that is stored. */
export type ReceivedMessage = {
  port: Port;
  reading: StorableReading<PortEvents[Port]>;
  message: MaskedMessage;
};

/** Stores a message once. `after` is called when the provider has its answer; it makes the first attempt. */
type ReceiveProviderEvent = (
  provider: string,
  received: ReceivedMessage,
) => Promise<{ stored: boolean; after(): void }>;

/**
 * Takes the messages of providers: stores each once, before it is answered. The first attempt to apply it is made in this
 * process, because a workflow for every message would double what Temporal costs a transfer. An event that does not end
 * there belongs to its workflow, which the dispatcher starts.
 */
export function createReceiveProviderEvent(deps: {
  events: ProviderEventStore;
  facts: ProviderEventFacts;
  application: Pick<ProviderEventApplication, 'applyFirst'>;
  log: Log;
}) {
  const { events, facts, application, log } = deps;
  const underWay = new Set<Promise<void>>();

  function newEvent(provider: string, { port, reading, message }: ReceivedMessage): ProviderEvent {
    const id = newId('providerEvent');
    const base = { provider, port, message };
    if (reading.kind !== 'event') {
      const { kind, dedupeKey, name } = reading;
      const draft = { dedupeKey, event: safeType(name), reading: kind, facts: [] };
      return newProviderEvent({ ...base, ...draft, occurred_at: null }, new Date(), id);
    }
    const { dedupeKey, name, occurredAt } = reading.event;
    const draft = { dedupeKey, event: name, reading: 'event' as const, occurred_at: occurredAt };
    return newProviderEvent(
      { ...base, ...draft, facts: facts.of(port, reading.event, id) },
      new Date(),
      id,
    );
  }

  const receive: ReceiveProviderEvent = async (provider, received) => {
    const event = await facts.withOwner(newEvent(provider, received));
    if (!(await events.insert(event))) return { stored: false, after: () => undefined };
    if (event.reading !== 'event') {
      const said = event.reading === 'unreadable' ? 'unreadable' : 'ignored: irrelevant type';
      log.warn({ ...eventLogIds(event), provider, type: event.event }, `provider event ${said}`);
      return { stored: true, after: () => failpoint('provider_event.stored') };
    }
    const after = () => {
      failpoint('provider_event.stored');
      const attempt = application
        .applyFirst(event)
        .then(() => undefined)
        .catch((error: unknown) => {
          log.warn(
            { err: error, ...eventLogIds(event) },
            'provider event not applied, left to its workflow',
          );
        })
        .finally(() => underWay.delete(attempt));
      underWay.add(attempt);
    };
    return { stored: true, after };
  };

  return {
    newEvent,
    receive,

    /** Resolves when no first attempt is in flight. */
    idle: async () => void (await Promise.all(underWay)),
  };
}
