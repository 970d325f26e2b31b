import type { CardAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import type { TimelineEntry } from '../../src/core/instructions/instruction.js';
import { eachAtOnce } from '../support/at-once.js';
import { cardClient, type CardClient } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { issuerClient } from '../support/issuer.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let cards: CardClient;
let issuer: ReturnType<typeof issuerClient>;

beforeAll(async () => {
  service = await shareService();
  tenant = await service.tenant();
  cards = cardClient(tenant);
  issuer = issuerClient(service);
});
afterAll(() => service.close());

const FUNDED = 50_000;
const AMOUNT = 10_000;

async function fundedCard() {
  const { id } = await cards.issue();
  const { body } = await cards.act(id, 'fund', { amount_minor: FUNDED });
  await cards.waitForOperation(id, body.data.id, 'completed');
  return id;
}

const ofCard = (card: string) =>
  service.deps.database.db
    .collection<CardAuthorization>('card_authorizations')
    .findOne({ card_id: card });

type End = {
  status: CardAuthorization['status'];
  cleared: number;
  refunded?: number;
  held?: number;
  /** The refunds that the network has withdrawn. */
  withdrawn?: number;
};

/** By the end of the merchant's name: what has become of a payment of 10,000 in the end. */
const COURSES: readonly [string, End][] = [
  ['001', { status: 'cleared', cleared: 10_000 }],
  ['002', { status: 'approved', cleared: 0, held: 15_000 }],
  ['003', { status: 'cleared', cleared: 10_000 }],
  ['004', { status: 'cleared', cleared: 12_000 }],
  ['005', { status: 'cleared', cleared: 5_000 }],
  ['007', { status: 'approved', cleared: 0, held: 10_000 }],
  ['008', { status: 'cleared', cleared: 10_000 }],
  ['009', { status: 'cleared', cleared: 5_000 }],
  ['010', { status: 'cleared', cleared: 10_000 }],
  ['011', { status: 'cleared', cleared: 10_000, refunded: 10_000 }],
  ['012', { status: 'cleared', cleared: 10_000, refunded: 0, withdrawn: 1 }],
  ['014', { status: 'cleared', cleared: 10_000, refunded: 1_000 }],
  ['015', { status: 'declined', cleared: 0 }],
  ['016', { status: 'cleared', cleared: 9_000 }],
  ['017', { status: 'approved', cleared: 0, held: 12_000 }],
];

eachAtOnce(COURSES)(
  'a payment at a merchant %s ends as its network says, on the card and in the books',
  async (suffix, { cleared, refunded = 0, held = 0, status, withdrawn = 0 }) => {
    const card = await fundedCard();
    const merchant = { name: `Mama Put ${suffix}` };
    await issuer.pay(card, { amount_minor: AMOUNT, merchant }).catch(() => null);
    await eventually(`the payment at ${suffix} is over`, async () => {
      const found = await ofCard(card);
      const is =
        found?.status === status &&
        found.cleared_minor === BigInt(cleared) &&
        found.refunded_minor === BigInt(refunded) &&
        found.held_minor === BigInt(held) &&
        found.facts.filter(({ kind }) => kind === 'refund_reversed').length === withdrawn;
      return is ? true : undefined;
    });
    const left = FUNDED - held - cleared + refunded;
    expect((await cards.balance(card)).available_minor).toBe(left);
  },
);

test('a payment shows what its issuer says of it: cash, the amount abroad, who began it, and the end of its hold', async () => {
  const card = await fundedCard();
  const end = new Date(Date.now() + 3 * 86_400_000).toISOString();
  const said = {
    cash_minor: 2_000,
    merchant_amount: { amount_minor: 90_000, currency: 'GHS' },
    initiator: 'merchant' as const,
  };
  const { token } = await issuer.pay(card, { amount_minor: AMOUNT, ...said, hold_until: end });
  const more = { authorization: token, kind: 'increment', amount_minor: 100 } as const;
  expect(await issuer.pay(card, more)).toMatchObject({ approved: true });
  const of = async (id: string) =>
    (await cards.call<object[]>('GET', `/cards/authorizations?card_id=${id}`)).body.data[0];
  expect(await of(card)).toMatchObject({ ...said, expires_at: end, forced: false });
  const other = await fundedCard();
  await issuer.pay(other, { amount_minor: AMOUNT });
  const unsaid = { cash_minor: null, merchant_amount: null, initiator: null };
  expect(await of(other)).toMatchObject(unsaid);
});

test('a forced clearing is booked, marked, told on the timeline and in the event, and calls an operator', async () => {
  const card = await fundedCard();
  const merchant = { name: 'Mama Put 008' };
  await issuer.pay(card, { amount_minor: AMOUNT, merchant }).catch(() => null);
  const { _id: id } = await eventually('it is cleared', async () => {
    const found = await ofCard(card);
    return found?.status === 'cleared' ? found : undefined;
  });
  const one = (await cards.call<object>('GET', `/cards/authorizations/${id}`)).body.data;
  expect(one).toMatchObject({
    forced: true,
    cleared_minor: AMOUNT,
    attention: { reason: 'money was taken that we had not approved' },
  });
  const path = `/cards/authorizations/${id}/timeline`;
  const { data } = (await cards.call<TimelineEntry[]>('GET', path)).body;
  expect(data.map(({ detail }) => detail)).toContain(`cleared by force: ${AMOUNT}`);
});

test('an issuer that wants its answer at once gets a decline, and nothing is held', async () => {
  const card = await fundedCard();
  const hasty = await issuer.pay(card, { amount_minor: AMOUNT, answer_within_ms: 1 });
  expect(hasty).toMatchObject({ approved: false });
  await eventually('nothing is held', async () => {
    const found = await ofCard(card);
    return found === null || found.held_minor === 0n ? true : undefined;
  });
  expect((await cards.balance(card)).available_minor).toBe(FUNDED);
});

test('a balance inquiry, a partial approval and a financial request are answered by their kind', async () => {
  const card = await fundedCard();
  const inquiry = await issuer.pay(card, { kind: 'balance_inquiry', amount_minor: 0 });
  expect(inquiry).toMatchObject({ approved: true, available_minor: FUNDED });
  const part = { amount_minor: FUNDED + 1, partial_approval: true };
  const partial = await issuer.pay(card, part);
  expect(partial).toMatchObject({ approved: true, approved_amount_minor: FUNDED });
  await issuer.end(partial.token, 'reversed');
  await eventually('the hold is gone', async () =>
    (await cards.balance(card)).available_minor === FUNDED ? true : undefined,
  );
  const financial = await issuer.pay(card, { kind: 'financial', amount_minor: AMOUNT });
  expect(financial).toMatchObject({ approved: true });
  expect((await cards.balance(card)).available_minor).toBe(FUNDED - AMOUNT);
  const credit = await issuer.pay(card, { kind: 'credit', amount_minor: AMOUNT });
  expect(credit).toMatchObject({ approved: true, approved_amount_minor: 0 });
});

test('the payments of all cards are listed by card, status and day, and each is read by its id', async () => {
  const card = await fundedCard();
  await issuer.pay(card, { amount_minor: AMOUNT });
  const of = async (query: string) =>
    (await cards.call<{ id: string }[]>('GET', `/cards/authorizations${query}`)).body;
  const { data, pagination } = await of(`?card_id=${card}&status=approved`);
  expect([data.length, pagination?.total]).toEqual([1, 1]);
  const id = String(data[0]?.id);
  const one = (await cards.call<object>('GET', `/cards/authorizations/${id}`)).body.data;
  expect(one).toMatchObject({ id, card_id: card, decline_code: null, held_minor: AMOUNT });
  const today = new Date().toISOString().slice(0, 10);
  expect((await of(`?card_id=${card}&start_date=${today}`)).data).toHaveLength(1);
  expect((await of(`?card_id=${card}&end_date=2020-01-01`)).data).toEqual([]);
  const other = cardClient(await service.tenant());
  expect((await other.call('GET', `/cards/authorizations/${id}`)).status).toBe(404);
});

test('the timeline of a payment has every decision and every report of its issuer in order, for its tenant alone', async () => {
  const card = await fundedCard();
  const { token } = await issuer.pay(card, { amount_minor: AMOUNT });
  const more = { authorization: token, kind: 'increment', amount_minor: FUNDED } as const;
  expect(await issuer.pay(card, more)).toMatchObject({ approved: false });
  await issuer.end(token, 'cleared', 6_000);
  const { _id: id } = await eventually('it is cleared', async () => {
    const found = await ofCard(card);
    return found?.status === 'cleared' ? found : undefined;
  });
  const path = `/cards/authorizations/${id}/timeline`;
  const { data, pagination } = (await cards.call<TimelineEntry[]>('GET', path)).body;
  expect(pagination).toMatchObject({ total: data.length });
  const entries = data.filter(({ type }) => type !== 'webhook_delivered');
  expect(entries.map(({ type, detail }) => `${type}: ${detail}`)).toEqual([
    'accepted: approved',
    'accepted: declined: insufficient_balance',
    'webhook: cleared: 6000',
    'captured: taken',
  ]);
  const other = cardClient(await service.tenant());
  expect((await other.call('GET', path)).status).toBe(404);
});

test('auto-reload in the body of a new card fills it as soon as it is active', async () => {
  const auto_reload = {
    enabled: true,
    threshold_minor: 1_000,
    amount_minor: 7_000,
    daily_cap_minor: 7_000,
  };
  const { id } = await cards.issue({ auto_reload });
  await eventually('the card is reloaded', async () =>
    (await cards.balance(id)).available_minor === 7_000 ? true : undefined,
  );
});

test('the books and the journal of the issuer agree', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
