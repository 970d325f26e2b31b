import type { Card } from '../../src/capabilities/cards/record.js';
import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { cardClient, type CardClient, type OperationView } from '../support/cards.js';
import { cardEventSender } from '../support/card-events.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { SHARED_OPTIONS, shareService, startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

/** The issuer executes a repeated request twice, so only the service prevents a second unloading. */
let service: Service;
let tenant: TestTenant;
let cards: CardClient;

beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.withoutDeduplication);
  tenant = await service.tenant();
  cards = cardClient(tenant);
});
afterAll(() => service.close());

const LEFT = 5_000;
let names = 0;

/** Closes a funded card. The suffix selects how the issuer gives back its balance. */
async function closed(suffix: string) {
  const { id } = await cards.issue();
  const { body } = await cards.act(id, 'fund', { amount_minor: LEFT });
  await cards.waitForOperation(id, body.data.id, 'completed');
  const before = await tenant.balance();
  const transaction_reference = `rest-${(names += 1)}-${suffix}`;
  expect((await cards.act(id, 'close', { transaction_reference })).status).toBe(201);
  return { id, before, transaction_reference };
}

const operations = (card: string) =>
  service.deps.database.db
    .collection<CardOperation>('card_operations')
    .find({ card_id: card, type: 'unload' })
    .toArray();

const operation = async (id: string): Promise<CardOperation> => {
  const found = await service.deps.cards.operations.get(tenant.id, id);
  if (!found) throw new Error(`there is no ${id}`);
  return found;
};

/** The differences of an unloading from its issuer. */
async function reconciled(unload: string) {
  const { out } = await bursar('reconcile --only card-unloads --json', service.env);
  const { differences } = JSON.parse(out) as { differences: { id: string }[] };
  return differences.filter(({ id }) => id === unload);
}

const unloadOf = (card: string, fits: (unload: CardOperation) => boolean) =>
  eventually(`the unloading of ${card} is as wanted`, async () =>
    (await operations(card)).find(fits),
  );

const stored = async (id: string): Promise<Card> => {
  const card = await service.deps.cards.store.find(id);
  if (!card) throw new Error(`there is no ${id}`);
  return card;
};

const journalOf = async (id: string) => (await service.bank.journal(id)).map(({ kind }) => kind);

test.each(['789', '001', '004', '007', '009', '010'])(
  'the balance of a closed card is in the wallet once the issuer has given it back, and once only (%s)',
  async (suffix) => {
    const { id, before, transaction_reference } = await closed(suffix);
    const unload = await unloadOf(id, ({ status }) => status === 'completed');
    expect(unload).toMatchObject({ transaction_reference, attention: null });
    expect(await journalOf(unload._id)).toEqual(['unloaded']);
    expect(await tenant.balance()).toEqual({ ...before, available: before.available + LEFT });
    expect(await stored(id)).toMatchObject({ available_minor: 0n, held_minor: 0n });
    expect(await cards.operation(id, unload._id)).toMatchObject<Partial<OperationView>>({
      type: 'unload',
      status: 'completed',
      amount_minor: LEFT,
    });
  },
);

test('as long as the issuer has not given it back, the balance is neither on the card nor in the wallet', async () => {
  const { id, before } = await closed('006');
  // Before its answer, the issuer may not know the unloading yet.
  const unload = await unloadOf(id, ({ acknowledged_at: at }) => at !== null);
  expect(unload.status).toBe('processing');
  expect((await cards.balance(id)).available_minor).toBe(0);
  expect(await tenant.balance()).toEqual(before);
  expect(await service.bank.setFundingOutcome(unload._id, 'funded')).toBe(200);
  await unloadOf(id, ({ status }) => status === 'completed');
  expect(await tenant.balance()).toEqual({ ...before, available: before.available + LEFT });
});

test('a balance that the issuer does not give back is on the card again, and an operator asks for it once more', async () => {
  const { id, before } = await closed('002');
  const refused = await unloadOf(id, ({ status }) => status === 'failed');
  expect(refused.attention?.reason).toBe('the issuer did not give back the balance of the card');
  expect((await cards.balance(id)).available_minor).toBe(LEFT);
  expect(await tenant.balance()).toEqual(before);
  const by = { actor: 'ada', reason: 'the issuer has repaired it' };
  expect(await service.deps.cardUnloads.retry(await stored(id), by)).toBe(null);
  await unloadOf(id, ({ status }) => status === 'completed');
  expect(await tenant.balance()).toEqual({ ...before, available: before.available + LEFT });
  expect((await operations(id)).map(({ attention }) => attention)).toEqual([null, null]);
  expect(await service.deps.cardUnloads.retry(await stored(id), by)).toMatch(/No unloading/);
});

test('of a balance that the issuer gives back in part, the wallet has this part, and the rest is on the card', async () => {
  const { id, before } = await closed('014');
  const unload = await unloadOf(id, ({ status }) => status === 'completed');
  expect(unload.attention?.reason).toBe(
    'the issuer gave back 2500 of 5000: the rest is on the card',
  );
  expect((await cards.balance(id)).available_minor).toBe(2_500);
  expect(await tenant.balance()).toEqual({ ...before, available: before.available + 2_500 });
  // Nothing contradicts what is booked, so the issuer is asked for the rest although it answers no questions now.
  await service.bank.faults([{ call: 'lookup', kind: 'error_500', probability: 1 }]);
  const by = { actor: 'ada', reason: 'the rest' };
  const obstacle = await service.deps.cardUnloads.retry(await stored(id), by);
  await service.bank.faults([]);
  expect(obstacle).toBe(null);
  await unloadOf(id, ({ _id, status }) => _id !== unload._id && status === 'completed');
  expect(await tenant.balance()).toEqual({ ...before, available: before.available + LEFT });
});

test('an unloading that the issuer takes back is on the card again', async () => {
  const { id, before } = await closed('008');
  const unload = await unloadOf(id, ({ reversed_at: reversed }) => reversed !== null);
  expect(unload).toMatchObject({ status: 'failed', failure: { code: 'reversed' } });
  expect((await cards.balance(id)).available_minor).toBe(LEFT);
  expect(await tenant.balance()).toEqual(before);
});

describe('a part of a completed unloading that the issuer takes back', () => {
  const PART = 2_000;
  const act = (card: string) =>
    bursar(`cards unload ${card} --reason asked --json`, service.env).then(
      ({ code, out, error }) => ({
        code,
        text: `${out}${error}`,
      }),
    );
  const whole = (before: { available: number; held: number }) => ({
    ...before,
    available: before.available + LEFT,
  });

  /** A card whose balance was given back, and the unloading, about which `report` calls an operator. */
  async function doubted(report: (unload: CardOperation) => Promise<unknown>) {
    const { id, before } = await closed('789');
    const unload = await unloadOf(id, ({ status }) => status === 'completed');
    await report(unload);
    const called = await unloadOf(id, ({ attention }) => attention !== null);
    expect(called.attention?.reason).toBe('the issuer reversed another amount than it gave back');
    expect(await tenant.balance()).toEqual(whole(before));
    return { id, before, unload: unload._id };
  }
  const takesBack = (unload: CardOperation) =>
    service.bank.setFundingOutcome(unload._id, 'reversed', PART);

  test('is on the card again once an operator asks for it, and is unloaded once more', async () => {
    const { id, before, unload } = await doubted(takesBack);
    expect(await act(id)).toMatchObject({ code: 0 });
    const next = await unloadOf(id, ({ _id, status }) => _id !== unload && status === 'completed');
    expect(next.amount_minor).toBe(BigInt(PART));
    expect(await tenant.balance()).toEqual(whole(before));
    const first = (await operations(id)).find(({ _id }) => _id === unload);
    expect(first).toMatchObject({
      status: 'completed',
      settled_amount_minor: BigInt(LEFT - PART),
      taken_back_minor: BigInt(PART),
      attention: null,
    });
    expect(await journalOf(unload)).toEqual(['unloaded', 'unload_reversed']);
    expect(await journalOf(next._id)).toEqual(['unloaded']);
    const { code, text } = await act(id);
    expect([code, text]).toEqual([1, expect.stringContaining('No unloading of this card')]);
    expect(await operations(id)).toHaveLength(2);
    expect(await reconciled(unload)).toEqual([]);
  });

  test('is not booked as long as the issuer does not answer', async () => {
    const { id, before, unload } = await doubted(takesBack);
    await service.bank.faults([{ call: 'lookup', kind: 'error_500', probability: 1 }]);
    const { code, text } = await act(id);
    await service.bank.faults([]);
    expect([code, text]).toEqual([1, expect.stringContaining('does not say now')]);
    expect(await tenant.balance()).toEqual(whole(before));
    const [one, ...others] = await operations(id);
    expect([one?._id, one?.attention === null, others]).toEqual([unload, false, []]);
    expect(await act(id)).toMatchObject({ code: 0 });
    await unloadOf(id, ({ _id, status }) => _id !== unload && status === 'completed');
  });

  test('is not booked if the issuer denies it when it is asked, which ends the attention', async () => {
    const sender = cardEventSender(service);
    const { id, before, unload } = await doubted(async ({ _id: reference }) => {
      const { issued } = await stored((await operation(reference)).card_id);
      const about = { reference, card: String(issued?.issuer_card_id), amount_minor: PART };
      return sender.post(sender.about('card.unload_reversed', about));
    });
    expect(await act(id)).toMatchObject({ code: 0 });
    expect(await tenant.balance()).toEqual(whole(before));
    expect(await operations(id)).toMatchObject([
      { _id: unload, status: 'completed', attention: null },
    ]);
    expect(await journalOf(unload)).toEqual(['unloaded']);
  });
});

test('the balance of an expired card returns by the same way', async () => {
  const { id } = await cards.issue();
  const { body } = await cards.act(id, 'fund', { amount_minor: LEFT });
  await cards.waitForOperation(id, body.data.id, 'completed');
  const before = await tenant.balance();
  await service.deps.database.db
    .collection<Card>('cards')
    .updateOne({ _id: id }, { $set: { 'issued.expiry_year': 2025 }, $inc: { version: 1 } });
  await service.deps.cardStates.expireCards(100);
  const unload = await unloadOf(id, ({ status }) => status === 'completed');
  expect(await journalOf(unload._id)).toEqual(['unloaded']);
  expect(await tenant.balance()).toEqual({ ...before, available: before.available + LEFT });
});

test('a reference of a closing is unique for the card', async () => {
  const { id } = await cards.issue();
  const transaction_reference = 'once';
  const { body } = await cards.act(id, 'fund', { amount_minor: LEFT, transaction_reference });
  await cards.waitForOperation(id, body.data.id, 'completed');
  const refused = await cards.act(id, 'close', { transaction_reference });
  expect([refused.status, refused.body.error]).toMatchObject([
    422,
    { code: 'duplicate_reference', field: 'transaction_reference' },
  ]);
  expect((await cards.get(id)).status).toBe('active');
});

test('the books and the journal of the issuer agree', async () => {
  expect(await service.problems()).toEqual([]);
});

describe('an issuer that holds no balances', () => {
  let own: Service;
  beforeAll(async () => {
    own = await startService({ oneProcess: true, env: { SANDBOX_BANK_CARD_BALANCES: 'ours' } });
  });
  afterAll(() => own.close());

  test('is asked neither to fund nor to unload a card', async () => {
    const of = await own.tenant();
    const client = cardClient(of);
    const { id } = await client.issue();
    const before = await of.balance();
    for (const action of ['fund', 'jit-fund']) {
      const { body } = await client.act(id, action, { amount_minor: LEFT });
      await client.waitForOperation(id, body.data.id, 'completed');
    }
    expect((await client.balance(id)).available_minor).toBe(2 * LEFT);
    await client.act(id, 'close');
    expect((await client.balance(id)).available_minor).toBe(0);
    expect(await of.balance()).toEqual(before);
    expect((await own.bank.journal()).map(({ kind }) => kind)).not.toContain('funded');
  });
});
