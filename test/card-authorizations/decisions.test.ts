import {
  authorizationId,
  type CardAuthorization,
} from '../../src/capabilities/card-authorizations/record.js';
import { createDecisions } from '../../src/capabilities/card-authorizations/create.js';
import {
  createAuthorizationStore,
  type AuthorizationStore,
} from '../../src/capabilities/card-authorizations/store.js';
import type { Card } from '../../src/capabilities/cards/record.js';
import { connectDatabase, type Database } from '../../src/platform/database/client.js';
import { newId } from '../../src/shared/ids.js';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { createLog } from '../../src/shared/log.js';
import { request, TERMS } from '../support/authorizations.js';
import { openCard } from '../support/card-record.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

let database: TestDatabase;
let other: Database;
const log = createLog({ level: 'silent', name: 'test' });

beforeAll(async () => {
  database = await openTestDatabase();
  other = await connectDatabase({ uri: database.uri, database: database.name }, 'other');
});
afterAll(async () => {
  await other.client.close();
  await database.close();
});

/** Decisions as one API process makes them, with what the store says passed on as `through` does. */
function decisionsOf(
  through: (store: AuthorizationStore) => Partial<AuthorizationStore> = () => ({}),
  given: { deadlineMs?: number; otherDeadlineMs?: number; at?: Database } = {},
) {
  const { deadlineMs = 15_000, otherDeadlineMs = deadlineMs, at = database } = given;
  const store = createAuthorizationStore(at, createGroupCommit(at), {
    stallTimeoutMs: 2_000,
    terms: TERMS,
  });
  return createDecisions({
    store: { ...store, ...through(store) },
    cards: {
      findIssued: (provider, card) =>
        at.db.collection<Card>('cards').findOne({ provider, 'issued.issuer_card_id': card }),
    },
    cardsDisabled: async () => false,
    deadlineMsOf: (provider) => (provider === 'sandbox-bank' ? deadlineMs : otherDeadlineMs),
    terms: TERMS,
    log,
  });
}

/** A card of a tenant of its own, and a payment with it. */
async function cardWith(availableMinor: bigint, provider = 'sandbox-bank') {
  const id = newId('card');
  const { issued: face } = openCard();
  const issued = face && { ...face, issuer_card_id: `card_${id}` };
  const tenantId = newId('tenant');
  await cards().insertOne(
    openCard({ _id: id, tenant_id: tenantId, issued, provider, available_minor: availableMinor }),
  );
  let count = 0;
  const pay = (amountMinor = 5_000n) => {
    count += 1;
    return request({ token: `auth_${id}_${count}`, card: `card_${id}`, amountMinor });
  };
  return { id, pay };
}

const cards = () => database.db.collection<Card>('cards');
const authorizations = () => database.db.collection<CardAuthorization>('card_authorizations');
const storedAuthorization = (token: string) =>
  authorizations().findOne({ _id: authorizationId('sandbox-bank', token) });
const APPROVED = {
  approved: true,
  code: 'approved',
  approvedMinor: 5_000n,
  availableMinor: null,
};
const LATE = {
  approved: false,
  code: 'deadline_exceeded',
  approvedMinor: 0n,
  availableMinor: null,
};

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** A decision, or the store's answer to it, when it is let go. */
function heldBack(what: 'answer' | 'decision' = 'answer') {
  const [decision, answer] = [gate(), gate()];
  if (what === 'answer') decision.open();
  const through = (store: AuthorizationStore): Partial<AuthorizationStore> => ({
    async decide(input) {
      await decision.opened;
      const found = await store.decide(input);
      await answer.opened;
      return found;
    },
  });
  return {
    through,
    letDecide: () => decision.open(),
    release() {
      decision.open();
      answer.open();
    },
  };
}

describe('a decision', () => {
  test('a repeated token gets the same decision and one hold', async () => {
    const { id, pay } = await cardWith(20_000n);
    const payment = pay();
    const [one, two] = [decisionsOf(), decisionsOf(undefined, { at: other })];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? one : two).decide('sandbox-bank', payment)),
    );
    answers.push(
      await one.decide('sandbox-bank', payment),
      await two.decide('sandbox-bank', payment),
    );
    expect(answers).toEqual(answers.map(() => APPROVED));
    expect(await cards().findOne({ _id: id })).toMatchObject({
      available_minor: 15_000n,
      held_minor: 5_000n,
      open_holds: 1,
    });
  });

  test('a decline stays a decline although the balance has grown since', async () => {
    const { id, pay } = await cardWith(4_999n);
    const payment = pay();
    const decisions = decisionsOf();
    const code = 'insufficient_balance';
    expect(await decisions.decide('sandbox-bank', payment)).toMatchObject({
      approved: false,
      code,
    });
    await cards().updateOne({ _id: id }, { $set: { available_minor: 50_000n } });
    expect(await decisions.decide('sandbox-bank', payment)).toMatchObject({
      approved: false,
      code,
    });
    expect(await decisions.decide('sandbox-bank', pay())).toEqual(APPROVED);
  });

  test('a request for an unknown card is declined', async () => {
    const unknown = request({ card: 'card_of_nobody' });
    expect(await decisionsOf().decide('sandbox-bank', unknown)).toMatchObject({
      approved: false,
      code: 'card_unknown',
    });
  });

  test.each([10_000n, 100_000n])(
    '50 at once by two processes never hold more than %s',
    async (has) => {
      const { id, pay } = await cardWith(has);
      const [one, two] = [decisionsOf(), decisionsOf(undefined, { at: other })];
      const answers = await Promise.all(
        Array.from({ length: 50 }, async (_, n) =>
          (n % 2 ? one : two).decide('sandbox-bank', pay(BigInt(n + 1) * 100n)),
        ),
      );
      // An approval that was committed after the deadline is voided.
      await Promise.all([one.idle(), two.idle()]);
      const approved = await authorizations().find({ card_id: id, status: 'approved' }).toArray();
      const held = approved.reduce((sum, { held_minor: minor }) => sum + minor, 0n);
      expect(approved).toHaveLength(answers.filter((answer) => answer.approved).length);
      expect(held).toBeLessThanOrEqual(has);
      expect(await cards().findOne({ _id: id })).toMatchObject({
        available_minor: has - held,
        held_minor: held,
        open_holds: approved.length,
      });
    },
  );

  test('a decision while the card is being locked is either before the lock or a decline', async () => {
    const { id, pay } = await cardWith(1_000_000n);
    const decisions = decisionsOf();
    const all = Array.from({ length: 20 }, () => decisions.decide('sandbox-bank', pay(10n)));
    const locked = await cards().findOneAndUpdate(
      { _id: id },
      { $set: { status: 'locked' }, $inc: { version: 1 } },
    );
    all.push(...Array.from({ length: 5 }, () => decisions.decide('sandbox-bank', pay(10n))));
    const answers = await Promise.all(all);
    for (const answer of answers.slice(-5)) {
      expect(answer).toEqual({
        approved: false,
        code: 'card_locked',
        approvedMinor: 0n,
        availableMinor: null,
      });
    }
    const card = await cards().findOne({ _id: id });
    expect(card?.open_holds).toBe(answers.filter(({ approved }) => approved).length);
    // None was approved after the lock was written.
    expect(card?.open_holds).toBe(locked?.open_holds);
    expect(card?.status).toBe('locked');
  });
});

describe('a decision that is not committed in time', () => {
  test('each issuer has a deadline of its own', async () => {
    const slow = heldBack('decision');
    const decisions = decisionsOf(slow.through, { deadlineMs: 300, otherDeadlineMs: 120_000 });
    const [quick, patient] = [await cardWith(20_000n), await cardWith(20_000n, 'patient-issuer')];
    const answer = decisions.decide('patient-issuer', patient.pay());
    expect(await decisions.decide('sandbox-bank', quick.pay())).toEqual(LATE);
    slow.letDecide();
    slow.release();
    expect(await answer).toEqual(APPROVED);
    await decisions.idle();
  });

  test('a request with an earlier deadline of its own is answered by then, and one that arrives after it is declined', async () => {
    const { id, pay } = await cardWith(20_000n);
    const slow = heldBack();
    const decisions = decisionsOf(slow.through, { deadlineMs: 120_000 });
    const short = { ...pay(), answerBy: new Date(Date.now() + 300) };
    expect(await decisions.decide('sandbox-bank', short)).toEqual(LATE);
    slow.release();
    await decisions.idle();
    expect(await cards().findOne({ _id: id })).toMatchObject({ held_minor: 0n, open_holds: 0 });
    const past = { ...pay(), answerBy: new Date(Date.now() - 1) };
    expect(await decisions.decide('sandbox-bank', past)).toEqual(LATE);
    await decisions.idle();
    expect(await storedAuthorization(past.token)).toMatchObject({ status: 'declined' });
    // A later one of its own does not prolong the issuer's.
    const never = heldBack();
    const hasty = decisionsOf(never.through, { deadlineMs: 300 });
    const long = { ...pay(), answerBy: new Date(Date.now() + 120_000) };
    expect(await hasty.decide('sandbox-bank', long)).toEqual(LATE);
    never.release();
    await hasty.idle();
    expect(await cards().findOne({ _id: id })).toMatchObject({ held_minor: 0n, open_holds: 0 });
  });

  test('an approval committed after its deadline is voided, and a repeat is declined', async () => {
    const { id, pay } = await cardWith(20_000n);
    const payment = pay();
    const slow = heldBack();
    const decisions = decisionsOf(slow.through, { deadlineMs: 300 });
    const first = decisions.decide('sandbox-bank', payment);
    await eventually(
      'the hold is there',
      async () => (await storedAuthorization(payment.token)) ?? undefined,
    );
    expect(await first).toEqual(LATE);
    expect(await decisions.decide('sandbox-bank', payment)).toEqual(LATE);
    slow.release();
    await eventually('the hold is given back', async () =>
      (await storedAuthorization(payment.token))?.status === 'declined' ? true : undefined,
    );
    const again = await decisionsOf().decide('sandbox-bank', payment);
    expect(again.approved).toBe(false);
    expect(await cards().findOne({ _id: id })).toMatchObject({
      available_minor: 20_000n,
      held_minor: 0n,
      open_holds: 0,
    });
  });

  test.each([
    ['it came first, and its answer was slow', 'answer'],
    ['it was itself so slow that it comes after', 'decision'],
  ] as const)(
    'a late approval is not voided once another process has answered with it: %s',
    async (_, what) => {
      const { id, pay } = await cardWith(20_000n);
      const payment = pay();
      const slow = heldBack(what);
      const decisions = decisionsOf(slow.through, { deadlineMs: 2_000 });
      expect(await decisions.decide('sandbox-bank', payment)).toEqual(LATE);
      // A repeat shows that the issuer has not received the first answer.
      expect(await decisionsOf(undefined, { at: other }).decide('sandbox-bank', payment)).toEqual(
        APPROVED,
      );
      slow.release();
      await decisions.idle();
      expect(await storedAuthorization(payment.token)).toMatchObject({
        status: 'approved',
        held_minor: 5_000n,
      });
      expect(await cards().findOne({ _id: id })).toMatchObject({
        held_minor: 5_000n,
        open_holds: 1,
      });
    },
  );

  test('an approval of another process is not voided by a late request, even if that was decided in time', async () => {
    const { id, pay } = await cardWith(20_000n);
    const payment = pay();
    const slow = heldBack('decision');
    const decisions = decisionsOf(slow.through, { deadlineMs: 8_000 });
    const first = decisions.decide('sandbox-bank', payment);
    expect(await decisionsOf(undefined, { at: other }).decide('sandbox-bank', payment)).toEqual(
      APPROVED,
    );
    slow.letDecide();
    await eventually('both have been decided', async () =>
      (await storedAuthorization(payment.token))?.messages[0]?.request_ids.length === 2
        ? true
        : undefined,
    );
    expect(await first).toEqual(LATE);
    slow.release();
    await decisions.idle();
    expect(await storedAuthorization(payment.token)).toMatchObject({
      status: 'approved',
      held_minor: 5_000n,
    });
    expect(await cards().findOne({ _id: id })).toMatchObject({ held_minor: 5_000n, open_holds: 1 });
  });

  test('an approval is voided once every request of its token has been declined', async () => {
    const { id, pay } = await cardWith(20_000n);
    const payment = pay();
    const [slow, slower] = [heldBack(), heldBack()];
    const one = decisionsOf(slow.through, { deadlineMs: 2_000 });
    const two = decisionsOf(slower.through, { deadlineMs: 2_000, at: other });
    expect(await one.decide('sandbox-bank', payment)).toEqual(LATE);
    expect(await two.decide('sandbox-bank', payment)).toEqual(LATE);
    slow.release();
    await one.idle();
    expect(await storedAuthorization(payment.token)).toMatchObject({
      status: 'approved',
      held_minor: 5_000n,
    });
    slower.release();
    await two.idle();
    expect(await storedAuthorization(payment.token)).toMatchObject({
      status: 'declined',
      held_minor: 0n,
    });
    expect(await cards().findOne({ _id: id })).toMatchObject({ available_minor: 20_000n });
  });

  test('a request is declined while another transaction holds the card, and the decline is stored', async () => {
    const { id, pay } = await cardWith(20_000n);
    const payment = pay();
    const decisions = decisionsOf(undefined, { deadlineMs: 300 });
    const session = other.client.startSession();
    try {
      session.startTransaction();
      const all = other.db.collection<Card>('cards');
      await all.updateOne({ _id: id }, { $set: { name: 'Ada' } }, { session });
      expect(await decisions.decide('sandbox-bank', payment)).toEqual(LATE);
      await session.commitTransaction();
    } finally {
      await session.endSession();
    }
    await decisions.idle();
    expect(await storedAuthorization(payment.token)).toMatchObject({
      status: 'declined',
      held_minor: 0n,
    });
    expect((await decisionsOf().decide('sandbox-bank', payment)).approved).toBe(false);
    expect(await cards().findOne({ _id: id })).toMatchObject({ available_minor: 20_000n });
  });

  test('a request is declined when the store fails, and a committed approval is voided', async () => {
    const { id, pay } = await cardWith(20_000n);
    const payment = pay();
    const failing = decisionsOf((store) => ({
      async decide(input) {
        await store.decide(input);
        throw new Error('the answer of the database never came');
      },
    }));
    const code = 'service_unavailable';
    expect(await failing.decide('sandbox-bank', payment)).toMatchObject({ approved: false, code });
    await failing.idle();
    expect(await storedAuthorization(payment.token)).toMatchObject({
      status: 'declined',
      held_minor: 0n,
    });
    expect(await cards().findOne({ _id: id })).toMatchObject({ available_minor: 20_000n });
  });
});
