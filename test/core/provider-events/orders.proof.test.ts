import { acceptCardFunding } from '../../../src/capabilities/card-fundings/mutations.js';
import { audits } from '../../../src/composition/capabilities.js';
import fc from 'fast-check';
import {
  newProviderEventReplay,
  type ProviderEvent,
} from '../../../src/core/provider-events/event.js';
import { newOperation, type Funding } from '../../../src/capabilities/cards/card-operation.js';
import { auditLedger } from '../../../src/core/ledger/audit.js';
import type { CardEventState } from '../../../src/core/providers/card-issuer.js';
import { cardClient, type CardClient } from '../../support/cards.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';

/**
 * Events of an issuer may arrive in any order, and repeatedly. No worker runs in this test: it applies the events one by
 * one, in many generated sequences.
 */
let service: Service;
let tenant: TestTenant;
let cards: CardClient;

beforeAll(async () => {
  service = await startService({ workers: 0 });
  tenant = await service.tenant();
  cards = cardClient(tenant);
});
afterAll(() => service?.close());

const AMOUNT = 5_000n;
const RUNS = 20;
const PROVIDER = 'sandbox-bank';

type ReportedEvent = { name: string; state: CardEventState; at: number };

/** Issues a card; returns our id and the id at the issuer. */
async function issuedCard(): Promise<{ id: string; issued: string }> {
  const { id } = (await cards.create()).body.data;
  const issued = `ic_${id}`;
  await applyAll({ reference: id, card: issued }, [ISSUED(issued)]);
  return { id, issued };
}

const ISSUED = (card: string): ReportedEvent => ({
  name: 'card.issued',
  at: 0,
  state: {
    subject: 'card',
    state: {
      kind: 'issued',
      card,
      brand: 'verve',
      last4: '4242',
      expiryMonth: 9,
      expiryYear: 2031,
      needsActivation: false,
    },
  },
});

type Subject = { reference: string; card: string };

const asStored = (about: Subject, { name, state, at }: ReportedEvent): ProviderEvent => {
  const occurredAt = new Date(Date.UTC(2026, 10, 21) + at);
  const dedupeKey = `${about.reference}-${at}`;
  const event = { dedupeKey, ...about, name, state, occurredAt };
  const reading = { kind: 'event', event } as const;
  return service.deps.providerEvents.newEvent(PROVIDER, { port: 'cards', reading, message: null });
};

/** Applies events as a worker does: the first occurrence as received, later ones as replays. */
async function applyAll(about: Subject, events: readonly ReportedEvent[]): Promise<void> {
  const { store, replays, application } = service.deps.providerEvents;
  const known = new Map<ReportedEvent, ProviderEvent>();
  for (const one of events) {
    const earlier = known.get(one);
    if (!earlier) {
      const event = asStored(about, one);
      known.set(one, event);
      expect(await store.insert(event)).toBe(true);
      expect(await store.insert(asStored(about, one))).toBe(false);
      expect(await application.applyProviderEvent({ id: event._id, nextMs: null })).toEqual({
        kind: 'done',
      });
    } else {
      const replay = newProviderEventReplay({ ...earlier, tenant_id: tenant.id }, new Date());
      const answer = { status: 201, body: '{}' };
      await replays.accept({
        tenantId: tenant.id,
        replay,
        claim: null,
        answer,
      });
      await application.replayProviderEvent({ id: replay._id });
      expect(await replays.get(tenant.id, replay._id)).toMatchObject({ status: 'completed' });
    }
  }
}

async function acceptedFunding(card: string): Promise<string> {
  const operation = newOperation(
    {
      tenant_id: tenant.id,
      card_id: card,
      type: 'fund',
      provider: PROVIDER,
      amount_minor: AMOUNT,
      status: 'processing',
      submissions: 1,
    },
    new Date(),
    'accepted',
  ) as Funding;
  const answer = { status: 201, body: '{}' };
  await service.deps.groupCommit.commit(acceptCardFunding, {
    tenantId: tenant.id,
    operation,
    claim: null,
    answer,
  });
  return operation._id;
}

const funding = (
  kind: 'pending' | 'funded' | 'rejected' | 'reversed',
  at: number,
): ReportedEvent => ({
  name: `card.funding.${kind}`,
  at,
  state: {
    subject: 'funding',
    state:
      kind === 'pending'
        ? { kind }
        : kind === 'rejected'
          ? { kind, code: 'funding_refused' }
          : { kind, amountMinor: AMOUNT },
  },
});

/** All events in any order, some of them repeated. */
const sequences = (all: readonly ReportedEvent[]) =>
  fc
    .array(fc.constantFrom(...all), { maxLength: all.length })
    .chain((repeats) =>
      fc.shuffledSubarray([...all, ...repeats], { minLength: all.length + repeats.length }),
    );

/** The final state of a funding on an empty card after these events. */
async function endOf(events: readonly ReportedEvent[]) {
  const card = await issuedCard();
  const before = await tenant.balance();
  const reference = await acceptedFunding(card.id);
  await applyAll({ reference, card: card.issued }, events);
  const operation = await service.deps.cards.operations.get(tenant.id, reference);
  const after = await tenant.balance();
  return {
    status: operation?.status,
    failure: operation?.failure?.code,
    attention: operation?.attention,
    card: (await cards.balance(card.id)).available_minor,
    spent: before.available - after.available,
    held: after.held - before.held,
  };
}

test.each([
  ['funded', [funding('pending', 0), funding('funded', 1)]],
  ['rejected', [funding('pending', 0), funding('rejected', 1)]],
  ['taken back', [funding('pending', 0), funding('funded', 1), funding('reversed', 2)]],
])('a funding that was %s ends the same in every order of its events', async (_end, events) => {
  const expected = await endOf(events);
  await fc.assert(
    fc.asyncProperty(sequences(events), async (sequence) => {
      expect(await endOf(sequence)).toEqual(expected);
    }),
    { numRuns: RUNS },
  );
});

test('afterwards the ledger balances', async () => {
  expect((await auditLedger(service.deps.database, audits)).problems).toEqual([]);
});
