import type { Card } from '../../src/capabilities/cards/record.js';
import { acceptCardFunding } from '../../src/capabilities/card-fundings/mutations.js';
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { cardEventResource, replayResource } from '../../src/core/provider-events/api.js';
import { newOperation, type Funding } from '../../src/capabilities/cards/card-operation.js';
import { newId } from '../../src/shared/ids.js';
import { cardClient, type CardView } from './cards.js';
import { callbackSender, type CallbackOptions } from './callbacks.js';
import { eventually } from './eventually.js';
import type { Service } from './service.js';
import { unlessKeyed, type CallOptions, type TestTenant } from './tenant.js';

/** A card event in an answer. */
export type CardEventView = z.infer<typeof cardEventResource>;
/** A replay in an answer. */
export type ReplayView = z.infer<typeof replayResource>;

/** Sends card events that are signed like those of the sandbox issuer, and waits for their processing. */
export function cardEventSender(service: Service) {
  const sender = callbackSender(service, 'cards');
  const stored = service.deps.providerEvents.store;

  return {
    post: (body: object, options?: CallbackOptions) => sender.post(JSON.stringify(body), options),

    /** The body of an event about a funding or an authorization. */
    about: (
      event: string,
      data: { reference: string; card: string; message_id?: string; amount_minor?: number },
    ) => ({
      id: `evt_${randomUUID()}`,
      event,
      occurred_at: new Date().toISOString(),
      data: { amount_minor: 5_000, currency: 'NGN', code: null, ...data },
    }),

    /** The body of an event about an issued card; a repeat of the issuer's own. */
    issued: (reference: string, face: Card['issued'] | undefined) => ({
      id: `evt_${randomUUID()}`,
      event: 'card.issued',
      occurred_at: new Date().toISOString(),
      data: { reference, ...(face && { ...face, card: face.issuer_card_id }) },
    }),

    /** Waits until every card event has been processed. */
    allProcessed: () =>
      eventually('every card event is processed', async () => {
        const open = await service.deps.database.db
          .collection('provider_events')
          .countDocuments({ status: 'received' });
        return open === 0 ? true : undefined;
      }),

    /** Waits until the latest event about this reference has this status. */
    async waitFor(reference: string, status: string) {
      return eventually(`the event about ${reference} is ${status}`, async () => {
        const all = await stored.latest({ attention: false, limit: 1_000 });
        const found = all.find((event) => event.facts[0]?.reference === reference);
        return found?.status === status ? found : undefined;
      });
    },
  };
}

/** A client of the routes of card events for one tenant. */
export function cardEventClient(tenant: TestTenant) {
  const { call } = cardClient(tenant);
  const path = '/webhooks/cards/events';
  return {
    list: (card: string, query = '') => call<CardEventView[]>('GET', `${path}/${card}${query}`),
    replay: (event: string, options?: CallOptions) =>
      unlessKeyed(
        (given) => call<ReplayView>('POST', `${path}/${event}/replay`, undefined, given),
        options,
      ),
    replayed: (event: string, id: string) =>
      call<ReplayView>('GET', `${path}/${event}/replays/${id}`),
  };
}

/** The amount of each funding of `fundingsOf`. */
export const FUNDED_MINOR = 5_000;

/** Creates fundings that events are about, each of `FUNDED_MINOR`. */
export function fundingsOf(service: Service, tenant: TestTenant) {
  const cards = cardClient(tenant);
  return {
    /** The issuer's id of a card. */
    async issuedAs({ id }: CardView): Promise<string> {
      const card = await service.deps.cards.store.get(tenant.id, id);
      return String(card?.issued?.issuer_card_id);
    },

    /** Requests a funding and returns its id. The suffix of its reference selects what the issuer does. */
    async fund({ id }: CardView, suffix: string): Promise<string> {
      const reference = `${newId('request')}-${suffix}`;
      const request = { amount_minor: FUNDED_MINOR, transaction_reference: reference };
      const { status, text, body } = await cards.act(id, 'fund', request);
      if (status !== 201) throw new Error(`not accepted: ${text}`);
      return body.data.id;
    },

    /** Accepts a funding under a given id, after an event about it has arrived. */
    async accept({ id, provider }: CardView, operation: string): Promise<void> {
      const made = newOperation(
        {
          _id: operation,
          tenant_id: tenant.id,
          card_id: id,
          type: 'fund',
          provider,
          amount_minor: BigInt(FUNDED_MINOR),
        },
        new Date(),
        'accepted late',
      );
      await service.deps.groupCommit.commit(acceptCardFunding, {
        tenantId: tenant.id,
        operation: made as Funding,
        claim: null,
        answer: { status: 201, body: '{}' },
      });
    },

    /** Funds a card at the issuer without a request of ours, so that an event about it is true. */
    async fundAtIssuer(card: string, operation: string): Promise<void> {
      const request = {
        reference: operation,
        clientReference: operation,
        card,
        amountMinor: BigInt(FUNDED_MINOR),
        currency: 'NGN',
        requestedAt: new Date(),
      } as const;
      const signal = AbortSignal.timeout(20_000);
      const { kind } = await service.deps.providers.forCards().fund(request, signal);
      if (kind !== 'funded') throw new Error(`the issuer says ${kind}`);
    },
  };
}
