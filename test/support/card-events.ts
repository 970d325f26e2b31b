import type { Card } from '../../src/capabilities/cards/card.js';
import { acceptCardFunding } from '../../src/capabilities/card-fundings/mutations.js';
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { cardEventResource, replayResource } from '../../src/core/provider-events/api.js';
import type { Funding } from '../../src/capabilities/card-fundings/postings.js';
import { newOperation } from '../../src/capabilities/cards/card-operation.js';
import { newId } from '../../src/shared/ids.js';
import { cardClient, type CardView } from './cards.js';
import { callbackSender, type CallbackOptions } from './callbacks.js';
import { eventually } from './eventually.js';
import type { Service } from './service.js';
import type { CallOptions, TestTenant } from './tenant.js';

export type CardEventView = z.infer<typeof cardEventResource>;
export type ReplayView = z.infer<typeof replayResource>;

/** Card events by hand, signed as the sandbox issuer signs them, and what becomes of them. */
export function cardEventSender(service: Service) {
  const sender = callbackSender(service, 'cards');
  const stored = service.deps.providerEvents.store;

  return {
    post: (body: object, options?: CallbackOptions) => sender.post(JSON.stringify(body), options),

    /** What the issuer says of a funding or of a payment. */
    about: (event: string, data: { reference: string; card: string; amount_minor?: number }) => ({
      id: `evt_${randomUUID()}`,
      event,
      occurred_at: new Date().toISOString(),
      data: { amount_minor: 5_000, currency: 'NGN', code: null, ...data },
    }),

    /** What the issuer says of a card, as it has said it before. */
    issued: (reference: string, face: Card['issued'] | undefined) => ({
      id: `evt_${randomUUID()}`,
      event: 'card.issued',
      occurred_at: new Date().toISOString(),
      data: { reference, ...(face && { ...face, card: face.issuer_card_id }) },
    }),

    /** Waits until nothing is on its way any more. */
    settled: () =>
      eventually('every card event is dealt with', async () => {
        const open = await service.deps.database.db
          .collection('provider_events')
          .countDocuments({ status: 'received' });
        return open === 0 ? true : undefined;
      }),

    /** The latest event that names this. */
    async waitFor(reference: string, status: string) {
      return eventually(`the event about ${reference} is ${status}`, async () => {
        const all = await stored.latest({ attention: false, limit: 1_000 });
        const found = all.find((event) => event.reference === reference);
        return found?.status === status ? found : undefined;
      });
    },
  };
}

/** The routes of card events as one tenant uses them. */
export function cardEventClient(tenant: TestTenant) {
  const { call } = cardClient(tenant);
  const path = '/webhooks/cards/events';
  return {
    list: (card: string, query = '') => call<CardEventView[]>('GET', `${path}/${card}${query}`),
    replay: (event: string, options?: CallOptions) =>
      call<ReplayView>('POST', `${path}/${event}/replay`, undefined, options),
    replayed: (event: string, id: string) =>
      call<ReplayView>('GET', `${path}/${event}/replays/${id}`),
  };
}

export const FUNDED_MINOR = 5_000;

/** Fundings that events are about, each of `FUNDED_MINOR`. */
export function fundingsOf(service: Service, tenant: TestTenant) {
  const cards = cardClient(tenant);
  return {
    /** The issuer's own id of a card. */
    async issuedAs({ id }: CardView): Promise<string> {
      const card = await service.deps.cards.get(tenant.id, id);
      return String(card?.issued?.issuer_card_id);
    },

    /** Asks for one; answers its id. By the end of its reference the issuer does what its table says. */
    async fund({ id }: CardView, suffix: string): Promise<string> {
      const reference = `${newId('request')}-${suffix}`;
      const order = { amount_minor: FUNDED_MINOR, transaction_reference: reference };
      const { status, text, body } = await cards.act(id, 'fund', order);
      if (status !== 201) throw new Error(`not accepted: ${text}`);
      return body.data.id;
    },

    /** Accepts one under an id that was chosen before: what an event was about and was not there. */
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

    /** What an event tells has to be so: the issuer funds without being asked by us. */
    async fundAtIssuer(card: string, operation: string): Promise<void> {
      const order = {
        reference: operation,
        clientReference: operation,
        card,
        amountMinor: BigInt(FUNDED_MINOR),
        currency: 'NGN',
        requestedAt: new Date(),
      } as const;
      const signal = AbortSignal.timeout(20_000);
      const { kind } = await service.deps.providers.forCards.fund(order, signal);
      if (kind !== 'funded') throw new Error(`the issuer says ${kind}`);
    },
  };
}
