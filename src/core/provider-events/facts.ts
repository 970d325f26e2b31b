import type { Port, PortEvents } from '../providers/registry.js';
import type { SecretBox } from '../webhooks/secrets.js';
import type { ProviderEvent, StoredFact } from './event.js';
import { splitReference, type OpenFact, type ProviderEventHandler } from './handler.js';
import { opaqueId } from '../../shared/card-data.js';
import type { ProviderEventStore } from './store.js';

/** The facts of events: made from messages, sealed, opened, and handled. */
export type ProviderEventFacts = ReturnType<typeof createProviderEventFacts>;

/** Joins the handlers of all capabilities. Throws if two of them claim one subject. */
export function createProviderEventFacts({
  handlers,
  secretBox,
  events,
}: {
  handlers: readonly ProviderEventHandler[];
  secretBox: SecretBox;
  events: Pick<ProviderEventStore, 'give'>;
}) {
  const bySubject = new Map<string, ProviderEventHandler>();
  for (const handler of handlers) {
    for (const subject of handler.subjects) {
      if (bySubject.has(subject)) throw new Error(`two handlers of provider events for ${subject}`);
      bySubject.set(subject, handler);
    }
  }

  /** The event with its tenant and card, if they are known. A stored event remembers them. */
  async function withOwner(event: ProviderEvent, isStored = false): Promise<ProviderEvent> {
    const [fact] = event.facts;
    const handler = fact && bySubject.get(fact.subject);
    if (event.tenant_id !== null || !fact || !handler?.findOwner) return event;
    const owner = await handler.findOwner(event.provider, fact);
    if (!owner) return event;
    if (isStored) await events.give(event._id, owner);
    return { ...event, tenant_id: owner.tenantId, card_id: owner.card };
  }

  return {
    withOwner,

    /** The facts of an event as they are stored with it: no reference that could be a number, secrets sealed for it. */
    of: (port: Port, event: PortEvents[Port], id: string): StoredFact[] =>
      handlers
        .filter((handler) => handler.port === port)
        .flatMap((handler) => handler.toFacts(event))
        .map(({ secret, ...fact }) => ({
          ...fact,
          reference: splitReference(fact.reference).open,
          ...(fact.issuer_card !== undefined && { issuer_card: opaqueId(fact.issuer_card) }),
          ...(secret && { sealed: secretBox.seal(JSON.stringify(secret), id) }),
        })),

    /** Applies one fact by the handler of its subject. */
    apply(fact: StoredFact, event: ProviderEvent) {
      const handler = bySubject.get(fact.subject);
      if (!handler) throw new Error(`no handler of provider events for ${fact.subject}`);
      return handler.apply(open(fact, event._id), event);
    },
  };

  function open({ sealed, ...fact }: StoredFact, id: string): OpenFact {
    const secret = sealed === undefined ? null : secretBox.open(sealed, id);
    return { ...fact, secret: secret === null ? null : (JSON.parse(secret) as OpenFact['secret']) };
  }
}
