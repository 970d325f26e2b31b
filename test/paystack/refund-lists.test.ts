import { createPaystackPayments } from '../../src/core/providers/paystack/payment-adapter.js';
import { DAY_MS } from '../../src/shared/durations.js';
import { banksFor, never, settingsFor, startFake } from './support.js';

const REFERENCE = 'chg_01k7y3w0000000000000000001-1';

/** A paid charge at a Paystack of our own, and the number of requests for its list of refunds. */
async function given() {
  const fake = await startFake();
  const settings = settingsFor(fake.url, 20_000);
  const provider = createPaystackPayments(settings, banksFor(settings));
  await provider.openPage(
    {
      reference: REFERENCE,
      clientReference: 'INV-1',
      amountMinor: 500_000n,
      currency: 'NGN',
      customer: { id: 'customer-1', email: 'payer@example.com', name: null },
      channel: { type: 'card' },
      returnUrl: null,
      requestedAt: new Date(),
    },
    never,
  );
  const theirs = REFERENCE.replace('_', '-');
  fake.pay(theirs);
  const about = { reference: REFERENCE, handle: null, since: new Date(), cursor: null };
  return {
    fake,
    theirs,
    provider,
    about,
    calls: () =>
      fake.requests.map(({ method, path }) => `${method} ${path.split(/[/?]/)[1]}`).slice(1),
    lists: () => fake.requests.filter(({ path }) => path.startsWith('/refund')).length,
    find: (newEnough?: Date, { signal = new AbortController().signal, daysAgo = 0 } = {}) =>
      provider.findRefunds(
        {
          ...about,
          since: new Date(Date.now() - daysAgo * DAY_MS),
          ...(newEnough && { newEnough }),
        },
        signal,
      ),
  };
}

test('questions that take a list of their time share one reading of all its pages', async () => {
  const { fake, theirs, lists, find } = await given();
  for (let i = 0; i < 130; i += 1) fake.refundAtDesk(theirs, 1_015);
  const asked = new Date();
  const answers = await Promise.all(Array.from({ length: 50 }, () => find(asked)));
  for (const answer of answers) {
    expect(answer).toMatchObject({ kind: 'page', next: null });
    expect(answer.kind === 'page' && answer.items.length).toBe(130);
  }
  expect(lists()).toBe(2);
  await fake.close();
});

test('a list that is too old, and a question that takes none, have the list read again', async () => {
  const { fake, theirs, lists, find } = await given();
  expect(await find(new Date())).toMatchObject({ kind: 'page', items: [] });
  fake.refundAtDesk(theirs, 1_000);
  expect(await find(new Date(Date.now() + 1))).toMatchObject({ items: [{ amountMinor: 1_000n }] });
  expect(await find()).toMatchObject({ items: [{ amountMinor: 1_000n }] });
  expect(lists()).toBe(3);
  await fake.close();
});

test('a list serves questions about charges of later days too, and not those of earlier ones', async () => {
  const { fake, lists, find } = await given();
  const asked = new Date();
  for (const daysAgo of [3, 1, 3, 0]) {
    expect(await find(asked, { daysAgo })).toMatchObject({ kind: 'page' });
  }
  expect(lists()).toBe(1);
  expect(await find(asked, { daysAgo: 5 })).toMatchObject({ kind: 'page' });
  expect(lists()).toBe(2);
  await fake.close();
});

test('a reading that takes longer than its question waits goes on, and serves those behind it', async () => {
  const { fake, provider, about, lists, find } = await given();
  // It learns the number of the transaction, so that the questions come in this order.
  await provider.findDisputes(about, never);
  const asked = new Date();
  fake.plan('refunds', 'slow');
  const first = find(asked, { signal: AbortSignal.timeout(500), daysAgo: 3 });
  const behind = find(asked);
  const late = find(asked, { signal: AbortSignal.timeout(500) });
  const timedOut = { kind: 'unknown', reason: 'timeout' };
  expect([await first, await late]).toMatchObject([timedOut, timedOut]);
  expect(await behind).toMatchObject({ kind: 'page', items: [] });
  expect(await find(asked, { daysAgo: 3 })).toMatchObject({ kind: 'page' });
  expect(lists()).toBe(1);
  await fake.close();
});

test('a list without an answer is not kept', async () => {
  const { fake, lists, find } = await given();
  const asked = new Date();
  fake.plan('refunds', 'drop_before');
  expect(await find(asked)).toMatchObject({ kind: 'unknown' });
  expect(await find(asked)).toMatchObject({ kind: 'page' });
  expect(lists()).toBe(2);
  await fake.close();
});

test('each call that a question makes is asked for, also the one for the number of the transaction', async () => {
  const { fake, provider, about, calls } = await given();
  let left = 0;
  const mayGoOn = async () => (left -= 1) >= 0;
  const refused = { kind: 'unknown', reason: 'throttled' };
  const { signal } = new AbortController();
  expect(await provider.findDisputes({ ...about, mayGoOn }, signal)).toMatchObject(refused);
  expect(await provider.findRefunds({ ...about, mayGoOn }, signal)).toMatchObject(refused);
  expect(calls()).toEqual([]);
  left = 1;
  expect(await provider.findDisputes({ ...about, mayGoOn }, signal)).toMatchObject({
    kind: 'page',
  });
  // The number is known now.
  left = 0;
  expect(await provider.findRefunds({ ...about, mayGoOn }, signal)).toMatchObject({ kind: 'page' });
  expect(calls()).toEqual(['GET transaction', 'GET dispute', 'GET refund']);
  await fake.close();
});
