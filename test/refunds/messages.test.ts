import type { Charge } from '../../src/capabilities/charges/record.js';
import { createUnmarkedReports } from '../../src/capabilities/refunds/messages.js';
import { newProviderEvent } from '../../src/core/provider-events/event.js';
import type { FindRefundsRequest } from '../../src/core/providers/payment-provider.js';
import { pageCharge, paid, sent, transition } from '../support/charge-facts.js';

const charge = transition(sent(pageCharge()), paid()).next;

/** The questions for a list that a report with this key leads to, received at this time. `result`: that of its last attempt. */
async function questionsOf(
  repeatKey: string | null,
  receivedAt: string,
  { of = charge, result = null }: { of?: Charge; result?: string | null } = {},
) {
  const asked: FindRefundsRequest[] = [];
  const apply = createUnmarkedReports(
    {
      charges: { store: { find: async () => of } },
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
  await apply(fact, { ...event, attempt_count: 1, result });
  return asked;
}

const newEnoughFor = async (...report: Parameters<typeof questionsOf>) =>
  (await questionsOf(...report)).map(({ newEnough }) => newEnough?.toISOString());

// The times are in the future, so that the list which may be shared by now is older.
test('a report whose equals within its second are dropped has a list read that began after that second', async () => {
  for (const received of ['2100-01-01T00:00:00.000Z', '2100-01-01T00:00:00.999Z']) {
    expect(await newEnoughFor('hash', received)).toEqual(['2100-01-01T00:00:01.000Z']);
    expect(await newEnoughFor(null, received)).toEqual([received]);
  }
});

test('a report of which no list was read takes one that has begun since it was received; one with a list takes a new one', async () => {
  const received = '2020-01-01T00:00:00.000Z';
  expect(await newEnoughFor(null, received, { result: 'list_not_read' })).toEqual([received]);
  const [again = ''] = await newEnoughFor(null, received, { result: 'unknown_reference' });
  expect(Date.parse(again)).toBeGreaterThan(Date.parse(received));
});

test('the list for a report about an old charge begins some months before the report, and else with the charge', async () => {
  const sinceFor = async (createdAt: string) => {
    const of = { ...charge, created_at: new Date(createdAt) };
    const asked = await questionsOf(null, '2100-07-01T00:00:00.000Z', { of });
    return asked.map(({ since }) => since.toISOString());
  };
  expect(await sinceFor('2090-01-01T00:00:00.000Z')).toEqual(['2100-04-02T00:00:00.000Z']);
  expect(await sinceFor('2100-06-30T00:00:00.000Z')).toEqual(['2100-06-30T00:00:00.000Z']);
});
