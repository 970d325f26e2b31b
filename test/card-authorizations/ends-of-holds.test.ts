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
import { stateWith, standInMutation, TERMS } from '../support/authorizations.js';
import { openCard } from '../support/card-record.js';
import { apply, run } from '../support/decisions.js';
import type { AnyMutation } from '../support/mutations.js';
import { checkBooks, message, seconds } from '../support/one-payment.js';
import { withEmptyParts } from '../support/parts.js';
import { NOW } from '../support/transfers.js';

/** A payment whose issuer is asked after the first mutations, and answers after the others that it holds nothing. */
async function askedBetween(
  before: AnyMutation[],
  meanwhile: AnyMutation[],
  reports: AuthorizationReport[] = [],
  over = true,
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
  const answeredAt = seconds(60);
  const groupCommit = withEmptyParts<GroupCommit>({
    async commit<I extends MutationInput, R>(mutation: Mutation<I, R>, input: I): Promise<R> {
      const planned = { mutation: mutation as unknown as Mutation, input };
      const { writes, results } = decide(state, [planned], answeredAt);
      state = apply(state, writes);
      return (results[0] as { result: R }).result;
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
  const answer = { kind: 'authorization', over, reports, providerRequestId: null } as const;
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
  const state = { kind: 'cleared', messageId: 'c1', final: true, amountMinor: 1_000n } as const;
  const reports = [{ state, at: seconds(-1) }];
  const one = await askedBetween([message('m1', 1_000n, -2)], [message('m2', 500n, 1)], reports);
  expect(one).toMatchObject({ cleared_minor: 1_000n, held_minor: 500n });
});

test('the end of a hold counts for an approval in our place that the same answer reports', async () => {
  const reports = [{ state: STOOD_IN, at: seconds(1) }];
  const one = await askedBetween([message('m1', 1_000n)], [], reports);
  expect([one.held_minor, ends(one)]).toEqual([0n, 1]);
});

test('an answer that the hold stands postpones the next question, and leaves the time that an increment has set meanwhile', async () => {
  const alone = await askedBetween([message('m1', 1_000n)], [], [], false);
  expect(alone.postponed?.getTime()).toBeGreaterThan(NOW.getTime());
  const later = await askedBetween([message('m1', 1_000n)], [message('m2', 500n, 1)], [], false);
  expect(later.postponed).toBeNull();
});
