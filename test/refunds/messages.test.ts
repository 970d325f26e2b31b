import { createUnmarkedReports } from '../../src/capabilities/refunds/messages.js';
import { newProviderEvent } from '../../src/core/provider-events/event.js';
import type { FindRefundsRequest } from '../../src/core/providers/payment-provider.js';
import { pageCharge, paid, sent, transition } from '../support/charge-facts.js';

const charge = transition(sent(pageCharge()), paid()).next;

/** The age of a list that is new enough for a report with this key, received at this time. */
async function newEnoughFor(repeatKey: string | null, receivedAt: string) {
  const asked: FindRefundsRequest[] = [];
  const apply = createUnmarkedReports(
    {
      charges: { store: { find: async () => charge } },
      refunds: { store: { openOf: async () => [] } },
      providers: {
        payment: () => ({
          findRefunds: async (request: FindRefundsRequest) => {
            asked.push(request);
            return { kind: 'page', items: [], next: null, providerRequestId: null };
          },
        }),
      },
    } as unknown as Parameters<typeof createUnmarkedReports>[0],
    () => Promise.reject(new Error('nothing is listed')),
  );
  const fact = {
    subject: 'refund',
    reference: `${charge._id}-1`,
    state: {
      kind: 'succeeded',
      amount_minor: 1_000n,
      currency: 'NGN',
      refund: null,
      charge: `${charge._id}-1`,
      ...(repeatKey !== null && { repeat_key: repeatKey }),
    },
    secret: null,
  };
  const event = newProviderEvent(
    {
      provider: charge.provider,
      port: 'payments',
      event: 'refund.succeeded',
      reading: 'event',
      facts: [],
      message: {},
      occurred_at: null,
      dedupeKey: 'a',
    },
    new Date(receivedAt),
  );
  await apply(fact, { ...event, attempt_count: 1 });
  return asked.map(({ newEnough }) => newEnough?.toISOString());
}

// The times are in the future, so that the list which may be shared by now is older.
test('a report whose equals within its second are dropped has a list read that began after that second', async () => {
  for (const received of ['2100-01-01T00:00:00.000Z', '2100-01-01T00:00:00.999Z']) {
    expect(await newEnoughFor('hash', received)).toEqual(['2100-01-01T00:00:01.000Z']);
    expect(await newEnoughFor(null, received)).toEqual([received]);
  }
});
