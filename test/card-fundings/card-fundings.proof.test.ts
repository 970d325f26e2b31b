import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { accounts } from '../../src/core/ledger/posting.js';
import type { PostingDocument } from '../../src/core/ledger/collections.js';
import { isOpen } from '../../src/core/instructions/instruction.js';
import { approvedPayload } from '../support/approvals.js';
import { cardClient, type CardClient, type CardView } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { SHARED_OPTIONS, shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import { inTries } from '../support/tries.js';

/** The issuer executes a repeated request twice, so only the service prevents a second funding. */
let service: Service;
let tenant: TestTenant;
let cards: CardClient;
let card: CardView;

beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.withoutDeduplication);
  tenant = await service.tenant();
  cards = cardClient(tenant);
  card = await cards.issue();
});
afterAll(() => service.close());

let names = 0;
/** A body whose reference ends with this suffix, which selects the issuer's behaviour. */
const funding = (suffix = '789', changes: Record<string, unknown> = {}) => ({
  amount_minor: 5_000,
  transaction_reference: `top-up-${(names += 1)}-${suffix}`,
  ...changes,
});

const journalOf = async (id: string) => (await service.bank.journal(id)).map(({ kind }) => kind);

async function stored(id: string): Promise<CardOperation> {
  const operation = await service.deps.cards.operations.get(tenant.id, id);
  if (!operation) throw new Error(`there is no ${id}`);
  return operation;
}

const waitUntil = (id: string, fits: (operation: CardOperation) => boolean) =>
  eventually(`${id} is as wanted`, async () => {
    const operation = await stored(id);
    return fits(operation) ? operation : undefined;
  });

const ended = (id: string) =>
  waitUntil(id, ({ status }) => status === 'completed' || status === 'failed');

const available = async (id = card.id) => (await cards.balance(id)).available_minor;

/** Accepts a funding of a separate card, so that the card's balance depends on it alone. */
async function fundOwn(suffix: string, action = 'fund') {
  const own = await cards.issue();
  const reply = await cards.act(own.id, action, funding(suffix));
  expect(reply.status).toBe(201);
  return { own, reply, id: reply.body.data.id };
}

test('a funding is accepted as pending, with its location, and completed when the issuer has funded the card', async () => {
  const before = await tenant.balance();
  const body = funding('789', { reason: 'petrol', request_id: 'req-7', truck: { no: 12 } });
  const { status, headers, body: answer } = await cards.act(card.id, 'fund', body);
  expect(status).toBe(201);
  const { id } = answer.data;
  expect(headers.get('location')).toBe(`/api/v1/cards/${card.id}/operations/${id}`);
  expect(answer.data).toMatchObject({
    card_id: card.id,
    type: 'fund',
    status: 'pending',
    amount_minor: 5_000,
    currency: 'NGN',
    transaction_reference: body.transaction_reference,
    reason: 'petrol',
    request_id: 'req-7',
    metadata: { truck: { no: 12 } },
  });
  expect((await ended(id)).status).toBe('completed');
  expect(await available()).toBe(5_000);
  expect(await tenant.balance()).toEqual({ available: before.available - 5_000, held: 0 });
  expect(await journalOf(id)).toEqual(['funded']);
});

describe('fund, by the table of test values', () => {
  const suffixes = ['001', '002', '004', '005', '006', '007', '009', '010', '012', '013'];
  const begun = new Map<string, Awaited<ReturnType<typeof fundOwn>>>();
  // All fundings run concurrently, because they mostly wait.
  beforeAll(async () => {
    await Promise.all(suffixes.map(async (each) => begun.set(each, await fundOwn(each))));
  });
  const row = (suffix: string) => begun.get(suffix) as Awaited<ReturnType<typeof fundOwn>>;

  test.each([
    ['001', 'funded later, reported by callback only'],
    ['004', 'funded, the answer never comes'],
    ['007', 'three errors, then funded'],
    ['009', 'callbacks out of order and repeated'],
    ['010', 'put off first'],
    ['012', 'the answer comes late'],
    ['013', 'late, and for good'],
  ])('%s: %s: completed, and funded once', async (suffix) => {
    const { own, id } = row(suffix);
    expect((await ended(id)).status).toBe('completed');
    expect(await available(own.id)).toBe(5_000);
    expect(await journalOf(id)).toEqual(['funded']);
  });

  test('002: refused, the hold is back', async () => {
    const { own, id } = row('002');
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'funding_refused' },
      completed_at: null,
    });
    expect(await available(own.id)).toBe(0);
    expect(await journalOf(id)).toEqual([]);
  });

  test('005: a funding without an answer and without effect is submitted again only while that is safe, then raises attention', async () => {
    const { own, id } = row('005');
    const stuck = await waitUntil(id, ({ attention }) => attention !== null);
    expect(stuck.status).toBe('processing');
    expect(await available(own.id)).toBe(0);
    const payload = { actor: 'ada', reason: 'asked by phone', session_id: null, force: false };
    const fail = (given: typeof payload) =>
      service.deps.cards.starter.command(stuck, 'fail', given);
    expect((await fail(payload)).done).toBe(false);
    expect((await fail({ ...payload, force: true })).done).toBe(false);
    expect((await fail(await approvedPayload(service.deps, 'cards', stuck, payload))).done).toBe(
      true,
    );
    expect(await stored(id)).toMatchObject({ status: 'failed', failure: { code: 'operator' } });
  });

  test('006: a funding that stays pending raises attention, and the issuer’s later outcome is applied', async () => {
    const { own, id } = row('006');
    const stuck = await waitUntil(id, ({ attention }) => attention !== null);
    expect(stuck.status).toBe('processing');
    await service.bank.setFundingOutcome(id, 'funded');
    expect((await ended(id)).status).toBe('completed');
    expect(await available(own.id)).toBe(5_000);
  });

  test('008: the unspent part of a funding that the issuer reverses returns to the wallet', async () => {
    const before = await tenant.balance();
    const { own, id } = await fundOwn('008');
    const operation = await waitUntil(id, ({ reversed_at: at }) => at !== null);
    expect(operation).toMatchObject({ status: 'failed', failure: { code: 'reversed' } });
    expect(await available(own.id)).toBe(0);
    expect((await tenant.balance()).available).toBe(before.available);
    expect(await journalOf(id)).toEqual(['funded', 'funding_reversed']);
  });
});

test('014: half of a funding is on the card: an operator is called, accepts the amount, and the rest is back', async () => {
  const before = await tenant.balance();
  const { own, id } = await fundOwn('014');
  const waiting = await waitUntil(id, ({ attention }) => attention !== null);
  expect([waiting.status, await available(own.id)]).toEqual(['processing', 0]);
  const complete = (amount: number) =>
    service.deps.cards.starter.command(waiting, 'complete', {
      actor: 'ada',
      reason: 'the issuer funded half of it',
      session_id: null,
      amount_minor: amount,
      force: false,
    });
  expect(await complete(2_400)).toMatchObject({ done: false });
  expect(await complete(2_500)).toMatchObject({ done: true });
  expect((await cards.operation(own.id, id)).settled_amount_minor).toBe(2_500);
  expect(await stored(id)).toMatchObject({ status: 'completed', attention: null });
  expect(await available(own.id)).toBe(2_500);
  expect(await tenant.balance()).toEqual({ ...before, available: before.available - 2_500 });
});

describe('jit-fund, by the table of test values', () => {
  const jit = async (suffix: string) => {
    const { own, reply, id } = await fundOwn(suffix, 'jit-fund');
    return { own, id, answer: reply.body.data };
  };
  const fundReversalOf = (id: string) =>
    eventually('the reversal of the funding has ended', async () => {
      const operation = await stored(`${id}-reversal`);
      return isOpen(operation) ? undefined : operation;
    });

  /** A funding that was submitted by its deadline: one that was not is only failed, without a reversal. */
  const jitSubmitted = (suffix: string) =>
    inTries(
      5,
      () => jit(suffix),
      async ({ id }) => (await stored(id)).submissions > 0,
    );

  /** A funding that was decided in time: a slow machine may miss the two seconds a few times. */
  const jitInTime = (suffix: string) =>
    inTries(
      5,
      () => jitSubmitted(suffix),
      async ({ id, answer: { failure } }) => {
        if (failure?.code !== 'deadline_exceeded') return true;
        await fundReversalOf(id);
        return false;
      },
    );

  test('a just-in-time funding completed in time is answered as completed', async () => {
    const { own, id, answer } = await jitInTime('789');
    expect(answer).toMatchObject({ type: 'jit_fund', status: 'completed', failure: null });
    expect(await available(own.id)).toBe(5_000);
    expect(await journalOf(id)).toEqual(['funded']);
  });

  test('002: a just-in-time funding refused in time is answered as failed, and its hold is released', async () => {
    const { answer } = await jitInTime('002');
    expect(answer).toMatchObject({ status: 'failed', failure: { code: 'funding_refused' } });
  });

  test.each([
    ['004', 'funded, the answer never comes', ['funded']],
    ['010', 'put off first', ['funded']],
  ])('%s: %s: found out in time or not, the money is in one place', async (suffix, _, effects) => {
    const { own, id, answer } = await jitSubmitted(suffix);
    if (answer.status === 'completed') {
      expect(await journalOf(id)).toEqual(effects);
      expect(await available(own.id)).toBe(5_000);
      return;
    }
    expect(answer.failure?.code).toBe('deadline_exceeded');
    expect((await fundReversalOf(id)).status).toBe('failed');
    expect(await available(own.id)).toBe(0);
  });

  test('012: a late funding fails at its deadline for the caller, and is then reversed', async () => {
    const { own, id, answer } = await jitSubmitted('012');
    expect(answer).toMatchObject({ status: 'failed', failure: { code: 'deadline_exceeded' } });
    expect((await fundReversalOf(id)).status).toBe('failed');
    expect(await journalOf(id)).toEqual(['funded', 'funding_reversed']);
    expect(await available(own.id)).toBe(0);
    const eventTypes = (await stored(id)).timeline.map(({ type }) => type);
    expect(eventTypes.at(-1)).toBe('released');
  });

  test('013: a late funding that is not reversible stays on the card, the wallet pays, and attention is raised', async () => {
    const { own, id, answer } = await jitSubmitted('013');
    expect(answer).toMatchObject({ status: 'failed', failure: { code: 'deadline_exceeded' } });
    const fundReversal = await fundReversalOf(id);
    expect(fundReversal.status).toBe('completed');
    expect(fundReversal.attention?.reason).toMatch(/does not take it back/);
    expect(await available(own.id)).toBe(5_000);
    expect((await stored(id)).attention).toEqual(fundReversal.attention);
    const noted = await service.deps.cards.starter.command(fundReversal, 'complete', {
      actor: 'ada',
      reason: 'seen',
      session_id: null,
      force: false,
    });
    expect(noted.done).toBe(true);
    expect((await stored(id)).attention).toBeNull();
    expect(await stored(`${id}-reversal`)).toMatchObject({ attention: null, next_check_at: null });
  });

  /** The postings of the hold of a funding, the first one first. */
  async function holdPostings(id: string) {
    const found = await service.deps.database.db
      .collection<PostingDocument>('postings')
      .find({ _id: { $in: [`${id}/hold`, `${id}/resolve`] } })
      .sort({ at: 1 })
      .toArray();
    return found.map(({ _id, legs, at }) => ({
      step: _id.slice(id.length + 1),
      at,
      amounts: new Map(legs.map((leg) => [leg.account, leg.amount_minor])),
    }));
  }

  test('005: an absent funding keeps its hold until its absence is proven, and is not submitted after the deadline', async () => {
    const before = await tenant.balance();
    const { id, answer } = await jitSubmitted('005');
    expect(answer).toMatchObject({ status: 'failed', failure: { code: 'deadline_exceeded' } });
    const reversal = await fundReversalOf(id);
    expect(reversal.status).toBe('failed');
    const [held, released, ...more] = await holdPostings(id);
    const [onHold, toSpend] = [accounts.held(tenant.id), accounts.available(tenant.id)];
    expect(held).toMatchObject({ step: 'hold' });
    expect(held?.amounts).toEqual(
      new Map([
        [toSpend, -5_000n],
        [onHold, 5_000n],
      ]),
    );
    expect(released).toMatchObject({ step: 'resolve' });
    expect(released?.amounts).toEqual(
      new Map([
        [onHold, -5_000n],
        [toSpend, 5_000n],
      ]),
    );
    expect(more).toEqual([]);
    // The reversal is created at the deadline, and releases the hold only with the proof that nothing was funded.
    expect(Number(released?.at)).toBeGreaterThan(Number(reversal.created_at));
    expect(await tenant.balance()).toEqual(before);
    expect(await journalOf(id)).toEqual([]);
    const { submissions: sends } = await stored(id);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await stored(id)).submissions).toBe(sends);
  });

  test('006: pending at the deadline: cancelled, and never funded', async () => {
    const { id } = await jitSubmitted('006');
    expect((await fundReversalOf(id)).status).toBe('failed');
    expect(await service.bank.setFundingOutcome(id, 'funded')).not.toBe(200);
    expect(await journalOf(id)).toEqual([]);
  });

  test('a retry with the same key gets the present state of the same operation', async () => {
    const own = await cards.issue();
    const body = funding('012');
    const key = `jit ${own.id}`;
    const first = await cards.act(own.id, 'jit-fund', body, { key });
    const again = await cards.act(own.id, 'jit-fund', body, { key });
    expect(again.body.data.id).toBe(first.body.data.id);
    expect(again.body.data.status).toBe('failed');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
});

test('after all fundings the ledger balances and agrees with the issuer', async () => {
  await eventually('what was given up is not watched any more', async () => {
    const open = await service.deps.database.db
      .collection('card_operations')
      .countDocuments({ status: { $in: ['pending', 'processing'] } });
    return open === 0 ? true : undefined;
  });
  expect(await service.problems()).toEqual([]);
});
