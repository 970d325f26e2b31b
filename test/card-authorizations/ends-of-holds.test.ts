import type { AuthorizationFact } from '../../src/capabilities/card-authorizations/facts.js';
import {
  cardAuthorizations,
  type CardAuthorization,
} from '../../src/capabilities/card-authorizations/record.js';
import { createAuthorizationStore } from '../../src/capabilities/card-authorizations/store.js';
import type { GroupCommit } from '../../src/core/commit/group-commit.js';
import type { Mutation, MutationInput } from '../../src/core/commit/mutation.js';
import { decide } from '../../src/core/commit/unit-of-work.js';
import type { AuthorizationReport } from '../../src/core/providers/card-issuer.js';
import type { Database } from '../../src/platform/database/client.js';
import {
  decideAuthorizationMutation,
  stateWith,
  standInMutation,
  TERMS,
  voidMutation,
} from '../support/authorizations.js';
import { openCard } from '../support/card-record.js';
import { apply, run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { after, checkBooks, message, seconds } from '../support/one-payment.js';
import { withEmptyParts } from '../support/parts.js';
import { NOW } from '../support/transfers.js';

/** A payment whose issuer is asked after the first mutations, and answers after the others that it holds nothing. */
async function askedBetween(
  before: AnyMutation[],
  meanwhile: AnyMutation[],
  {
    reports = [],
    over = true,
    approved = ['m1'],
    afterSeconds = 60,
  }: {
    reports?: AuthorizationReport[];
    over?: boolean;
    /** The messages that the issuer names as approved. */
    approved?: string[];
    afterSeconds?: number;
  } = {},
) {
  const start = stateWith(openCard({ available_minor: 10_000n }));
  let { state } = run(start, [before]);
  const payment = (): CardAuthorization => {
    const [one] = state.records.all(cardAuthorizations);
    if (!one) throw new Error('nothing was decided');
    return one;
  };
  const asked = payment();
  let postponed: Date | null | undefined;
  ({ state } = run(state, [meanwhile], seconds(1)));
  const answeredAt = seconds(afterSeconds);
  const groupCommit = withEmptyParts<GroupCommit>({
    async commit<I extends MutationInput, R>(mutation: Mutation<I, R>, input: I): Promise<R> {
      const planned = { mutation: mutation as unknown as Mutation, input };
      const { writes, results } = decide(state, [planned], answeredAt);
      state = apply(state, writes);
      return results[0] as R;
    },
  });
  /** The write that postpones the next question, if it is about the payment as it is now. */
  const updateOne = async (
    { expires_at: end }: { expires_at: Date | null },
    { $set: { verify_at: next } }: { $set: { verify_at: Date } },
  ) => {
    const isThis = end?.getTime() === payment().expires_at?.getTime();
    postponed = isThis ? next : null;
    return { modifiedCount: Number(isThis) };
  };
  const store = createAuthorizationStore(
    withEmptyParts<Database>({
      db: withEmptyParts<Database['db']>({
        collection: () => ({ updateOne }) as never,
      }),
    }),
    groupCommit,
    { stallTimeoutMs: 2_000, terms: TERMS },
    () => answeredAt,
  );
  const found = { kind: 'authorization', over, approved, reports } as const;
  const answer = { ...found, providerRequestId: null };
  await store.applyAnswer(asked, answer);
  checkBooks(state);
  return { ...payment(), postponed };
}

const ends = ({ facts }: { facts: AuthorizationFact[] }) =>
  facts.filter(({ kind }) => kind === 'expired').length;
const STOOD_IN = {
  kind: 'approved',
  messageId: 'm2',
  amountMinor: 500n,
  standIn: 'network',
} as const;

test('the hold of a payment of which the issuer holds nothing is released', async () => {
  const one = await askedBetween([message('m1', 1_000n)], []);
  expect(one).toMatchObject({ status: 'expired', held_minor: 0n });
});

describe('an approval whose answer the issuer has not received yet', () => {
  const first = [message('m1', 1_000n)];
  const both = [...first, message('m2', 500n, 1)];

  test('keeps its hold, also that of an increment of a payment that the issuer knows', async () => {
    const alone = await askedBetween(first, [], { approved: [] });
    expect([alone.held_minor, ends(alone)]).toEqual([1_000n, 0]);
    expect(alone.postponed?.getTime()).toBeGreaterThan(NOW.getTime());
    const increment = await askedBetween(both, []);
    expect([increment.held_minor, ends(increment)]).toEqual([1_500n, 0]);
  });

  test('loses it once it must have arrived: a later answer counts for it', async () => {
    const later = await askedBetween(both, [], { approved: [], afterSeconds: 3_601 });
    expect([later.held_minor, ends(later)]).toEqual([0n, 1]);
    const named = await askedBetween(both, [], { approved: ['m1', 'm2'] });
    expect([named.held_minor, ends(named)]).toEqual([0n, 1]);
  });

  test('does not count if it is void, or an approval in our place', async () => {
    const withdrawn = voidMutation({ messageId: 'm2', requestedAt: seconds(1) }, { at: 2 });
    const voided = await askedBetween([...both, withdrawn], []);
    expect([voided.held_minor, ends(voided)]).toEqual([0n, 1]);
    const advice = standInMutation(500n, { message: 'm2', at: 1 });
    const stoodIn = await askedBetween([...first, advice], []);
    expect([stoodIn.held_minor, ends(stoodIn)]).toEqual([0n, 1]);
  });
});

test.each([
  ['an increment that is approved', message('m2', 500n, 1)],
  ['an approval in our place that arrives', standInMutation(500n, { message: 'm2', at: 1 })],
])('%s after the issuer was asked about the payment keeps its hold', async (_, meanwhile) => {
  const one = await askedBetween([message('m1', 1_000n)], [meanwhile]);
  expect([one.held_minor, ends(one)]).toEqual([1_500n, 0]);
  // The issuer is asked again.
  expect(one.verify_at?.getTime()).toBeGreaterThan(NOW.getTime());
});

test('a clearing that the answer reports is taken, and an increment since the question stays held', async () => {
  const state = {
    kind: 'cleared',
    messageId: 'c1',
    final: true,
    forced: false,
    amountMinor: 1_000n,
  } as const;
  const reports = [{ state, at: seconds(-1) }];
  const one = await askedBetween([message('m1', 1_000n, -2)], [message('m2', 500n, 1)], {
    reports,
  });
  expect(one).toMatchObject({ cleared_minor: 1_000n, held_minor: 500n });
});

test('the end of a hold counts for an approval in our place that the same answer reports', async () => {
  const reports = [{ state: STOOD_IN, at: seconds(1) }];
  const one = await askedBetween([message('m1', 1_000n)], [], { reports });
  expect([one.held_minor, ends(one)]).toEqual([0n, 1]);
});

test('an answer that the hold stands postpones the next question, and leaves the time that an increment has set meanwhile', async () => {
  const alone = await askedBetween([message('m1', 1_000n)], [], { over: false });
  expect(alone.postponed?.getTime()).toBeGreaterThan(NOW.getTime());
  const later = await askedBetween([message('m1', 1_000n)], [message('m2', 500n, 1)], {
    over: false,
  });
  expect(later.postponed).toBeNull();
});

describe('the end of a hold that the issuer names', () => {
  const until = (messageId: string, end: number | null, at = 0) =>
    decideAuthorizationMutation({
      messageId,
      amountMinor: 1_000n,
      requestedAt: seconds(at),
      holdUntil: end === null ? null : seconds(end),
    });
  const endOf = (...mutations: AnyMutation[]) => after(mutations).one;

  test('decides when the issuer is asked, also before and after our own term, and ends nothing', () => {
    expect(endOf(until('m1', null)).expires_at).toEqual(seconds(60));
    const short = endOf(until('m1', 10));
    expect([short.expires_at, short.verify_at]).toEqual([seconds(10), seconds(10)]);
    const day = 86_400;
    const long = endOf(until('m1', 30 * day));
    expect([long.expires_at, long.verify_at]).toEqual([seconds(30 * day), seconds(day)]);
    expect(endOf(until('m1', 3_000 * day)).expires_at).toEqual(seconds(90 * day));
    const past = endOf(until('m1', -10));
    expect([past.expires_at, past.verify_at]).toEqual([seconds(-10), seconds(day)]);
    expect(past).toMatchObject({ status: 'approved', held_minor: 1_000n });
  });

  test('of several messages is the latest, in whatever order they arrive, and stays if a message names none', () => {
    const messages = [until('m1', 20), until('m2', 90, 1), until('m3', null, 2)];
    const orders = [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ];
    for (const order of orders) {
      const arrived = order.flatMap((i) => messages[i] ?? []);
      expect(endOf(...arrived).expires_at).toEqual(seconds(90));
    }
  });
});
