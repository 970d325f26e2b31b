import {
  cardClient,
  type CardClient,
  type CardView,
  type OperationView,
} from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';
import type { CardOperation } from '../../src/cards/operation.js';

/** At an issuer that funds a repeated order again: only our own care keeps a card from being funded twice. */
let service: Service;
let tenant: TestTenant;
let cards: CardClient;
let card: CardView;

beforeAll(async () => {
  service = await startService({
    bank: { deduplicate: false, finalAfterMs: 1_500 },
    env: { BURSAR_ATTENTION_AFTER_MS: '6000' },
  });
  tenant = await service.tenant();
  cards = cardClient(tenant);
  card = await cards.issue();
});
afterAll(() => service.close());

let names = 0;
/** A body whose transaction reference ends as said: the issuer does by it what its table says. */
const funding = (suffix = '789', changes: Record<string, unknown> = {}) => ({
  amount_minor: 5_000,
  transaction_reference: `top-up-${(names += 1)}-${suffix}`,
  ...changes,
});

const journalOf = async (id: string) =>
  (await service.bank.journal(id)).map(({ kind }) => String(kind));

async function stored(id: string): Promise<CardOperation> {
  const operation = await service.deps.cardOperations.get(tenant.id, id);
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

/** Accepts a funding of its own card, so that balances tell of it alone. */
async function fundOwn(suffix: string, action = 'fund') {
  const own = await cards.issue();
  const reply = await cards.act(own.id, action, funding(suffix));
  expect(reply.status).toBe(201);
  return { own, reply, id: reply.body.data.id };
}

describe('fund, by the table of test values', () => {
  test('is accepted as pending, with its place, and completed once the issuer has funded', async () => {
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

  test.each([
    ['001', 'funded later, told by callback only'],
    ['004', 'funded, the answer never comes'],
    ['007', 'three errors, then funded'],
    ['009', 'callbacks out of order and repeated'],
    ['010', 'put off first'],
    ['012', 'the answer comes late'],
    ['013', 'late, and for good'],
  ])('%s: %s: completed, and funded once', async (suffix) => {
    const { own, id } = await fundOwn(suffix);
    expect((await ended(id)).status).toBe('completed');
    expect(await available(own.id)).toBe(5_000);
    expect(await journalOf(id)).toEqual(['funded']);
  });

  test('002: refused, the hold is back', async () => {
    const { own, id } = await fundOwn('002');
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'funding_refused' },
      completed_at: null,
    });
    expect(await available(own.id)).toBe(0);
    expect(await journalOf(id)).toEqual([]);
  });

  test('005: no answer and nothing done: sent again only as far as that is safe, then an operator', async () => {
    const { own, id } = await fundOwn('005');
    const stuck = await waitUntil(id, ({ attention }) => attention !== null);
    expect(stuck.status).toBe('processing');
    expect(await available(own.id)).toBe(0);
    const act = (force: boolean) =>
      service.deps.cardStarters.command(stuck, 'fail', {
        actor: 'ada',
        reason: 'asked by phone',
        session_id: null,
        force,
      });
    expect((await act(false)).done).toBe(false);
    expect((await act(true)).done).toBe(true);
    expect(await stored(id)).toMatchObject({ status: 'failed', failure: { code: 'operator' } });
  });

  test('006: pending for ever: an operator is called, and what the issuer decides then is booked', async () => {
    const { own, id } = await fundOwn('006');
    const stuck = await waitUntil(id, ({ attention }) => attention !== null);
    expect(stuck.status).toBe('processing');
    await service.bank.tellFunding(id, 'funded');
    expect((await ended(id)).status).toBe('completed');
    expect(await available(own.id)).toBe(5_000);
  });

  test('008: taken back by the issuer: what the card has left of it is back in the wallet', async () => {
    const before = await tenant.balance();
    const { own, id } = await fundOwn('008');
    const operation = await waitUntil(id, ({ reversed_at: at }) => at !== null);
    expect(operation).toMatchObject({ status: 'failed', failure: { code: 'reversed' } });
    expect(await available(own.id)).toBe(0);
    expect((await tenant.balance()).available).toBe(before.available);
    expect(await journalOf(id)).toEqual(['funded', 'funding_reversed']);
  });
});

test('afterwards the books balance', async () => {
  const { problems } = await (
    await import('../../src/ledger/audit.js')
  ).auditLedger(service.deps.database);
  expect(problems).toEqual([]);
});

export type { OperationView };
