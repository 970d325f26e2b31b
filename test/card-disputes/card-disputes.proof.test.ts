import type { z } from 'zod';
import type { cardAuthorizationResource } from '../../src/capabilities/card-authorizations/schema.js';
import { authorizationId } from '../../src/capabilities/card-authorizations/record.js';
import type { cardDisputeResource } from '../../src/capabilities/card-disputes/schema.js';
import type { CardDispute } from '../../src/capabilities/card-disputes/record.js';
import { cardClient, type CardClient } from '../support/cards.js';
import { bursar } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { issuerClient } from '../support/issuer.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { SHARED_OPTIONS, shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

type DisputeView = z.infer<typeof cardDisputeResource>;
type PaymentView = z.infer<typeof cardAuthorizationResource>;

const FUNDED = 50_000;
const PAID = 10_000;

let service: Service;
let tenant: TestTenant;
let cards: CardClient;
let issuer: ReturnType<typeof issuerClient>;
let receiver: Receiver;
let made = 0;

beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.earlyAttention);
  receiver = await startReceiver();
  tenant = await service.tenant();
  await service.deps.webhooks.endpoints.add(tenant.id, receiver.url);
  cards = cardClient(tenant);
  issuer = issuerClient(service);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

/** A payment of a funded card, which the network has taken. */
async function payment() {
  const { id: card } = await cards.issue();
  const { body } = await cards.act(card, 'fund', { amount_minor: FUNDED });
  await cards.waitForOperation(card, body.data.id, 'completed');
  const { token } = await issuer.pay(card, { kind: 'financial', amount_minor: PAID });
  return { card, token, id: authorizationId('sandbox-bank', token) };
}

const words = { reason: 'not_received', explanation: 'The order has not come.' };

const raise = (authorization: string, body: object = {}, of = cards) =>
  of.call<DisputeView>('POST', `/cards/authorizations/${authorization}/disputes`, {
    ...words,
    ...body,
  });

/** A dispute of a new payment. The suffix selects what the issuer does. */
async function disputed(suffix: string, body: object = {}) {
  const paid = await payment();
  const reference = `complaint-${(made += 1)}-${suffix}`;
  const {
    status,
    body: answer,
    text,
  } = await raise(paid.id, {
    transaction_reference: reference,
    ...body,
  });
  if (status !== 201) throw new Error(text);
  return { ...paid, reference, dispute: answer.data };
}

const read = async (id: string) =>
  (await cards.call<DisputeView>('GET', `/cards/disputes/${id}`)).body.data;

const becomes = (id: string, fits: Partial<DisputeView>) =>
  eventually(`${id} is ${JSON.stringify(fits)}`, async () => {
    const one = await read(id);
    return Object.entries(fits).every(([name, value]) => one[name as keyof DisputeView] === value)
      ? one
      : undefined;
  });

const cardHas = (card: string, available: number) =>
  eventually(`${card} has ${available}`, async () =>
    (await cards.balance(card)).available_minor === available ? true : undefined,
  );

const cancel = (id: string) => cards.call<DisputeView>('POST', `/cards/disputes/${id}/cancel`, {});

const stored = async (id: string): Promise<CardDispute> => {
  const found = await service.deps.cardDisputes.store.get(tenant.id, id);
  if (!found) throw new Error(`there is no ${id}`);
  return found;
};

const journalOf = async (id: string) =>
  (await service.bank.journal((await stored(id)).operation_id)).map(({ kind }) => kind);

async function hasEvents(id: string, ...names: string[]) {
  const received = () => receiver.events().filter(({ data }) => data['id'] === id);
  await eventually(`the events of ${id}`, () =>
    received().length >= names.length ? true : undefined,
  );
  const inOrder = received().toSorted((a, b) => a.sequence - b.sequence);
  expect(inOrder.map(({ event, sequence }) => [event, sequence])).toEqual(
    names.map((name, i) => [name, i + 1]),
  );
}

test('a dispute that is won leaves the provisional credit with the card that has paid', async () => {
  const { card, id, dispute, reference } = await disputed('789');
  expect(dispute).toMatchObject({ amount_minor: PAID, credited_minor: 0, ...words });
  await becomes(dispute.id, { status: 'open' });
  expect(await service.bank.setCardDispute(reference, 'credited', { times: 3 })).toBe(200);
  await becomes(dispute.id, { status: 'open', credited_minor: PAID });
  await cardHas(card, FUNDED);
  expect(await service.bank.setCardDispute(reference, 'won')).toBe(200);
  const won = await becomes(dispute.id, { status: 'won', credited_minor: PAID });
  expect(won.decided_at).not.toBeNull();
  await cardHas(card, FUNDED);
  const { data } = (await cards.call<PaymentView>('GET', `/cards/authorizations/${id}`)).body;
  expect(data).toMatchObject({ cleared_minor: PAID, disputed_minor: PAID, credited_minor: PAID });
  await hasEvents(dispute.id, 'card.dispute.opened', 'card.dispute.credited', 'card.dispute.won');
  const again = await raise(id);
  expect([again.status, again.body.error.code]).toEqual([422, 'invalid_state']);
});

test('a dispute that is lost takes the provisional credit back', async () => {
  const { card, dispute, reference } = await disputed('789', { amount_minor: 4_000 });
  await becomes(dispute.id, { status: 'open' });
  await service.bank.setCardDispute(reference, 'credited');
  await cardHas(card, FUNDED - PAID + 4_000);
  await service.bank.setCardDispute(reference, 'lost');
  await becomes(dispute.id, { status: 'lost', credited_minor: 0 });
  await cardHas(card, FUNDED - PAID);
  await hasEvents(dispute.id, 'card.dispute.opened', 'card.dispute.credited', 'card.dispute.lost');
});

test('a dispute that is cancelled is withdrawn at the issuer, and can be raised again', async () => {
  const { card, id, dispute, reference } = await disputed('789');
  await becomes(dispute.id, { status: 'open' });
  await service.bank.setCardDispute(reference, 'credited');
  await cardHas(card, FUNDED);
  const first = await cancel(dispute.id);
  expect([first.status, first.body.data.cancellation]).toEqual([200, 'requested']);
  await becomes(dispute.id, { status: 'cancelled', credited_minor: 0, cancellation: null });
  expect((await cancel(dispute.id)).status).toBe(200);
  await cardHas(card, FUNDED - PAID);
  expect(await journalOf(dispute.id)).toEqual([
    'card_disputed',
    'card_dispute_credited',
    'card_dispute_withdrawn',
  ]);
  expect((await raise(id)).status).toBe(201);
});

test('a dispute that the issuer does not withdraw goes on, and the issuer can be asked again', async () => {
  const { dispute } = await disputed('015');
  await becomes(dispute.id, { status: 'open' });
  for (let asked = 0; asked < 2; asked += 1) {
    const { status, body } = await cancel(dispute.id);
    expect([status, body.data.cancellation]).toEqual([200, 'requested']);
    await becomes(dispute.id, { status: 'open', cancellation: 'refused' });
  }
  const refused = 'card.dispute.cancellation_refused';
  await hasEvents(dispute.id, 'card.dispute.opened', refused, refused);
});

test('operators find a dispute by its payment, and see its operations and the reports of its issuer', async () => {
  const { card, id, dispute, reference } = await disputed('789');
  await becomes(dispute.id, { status: 'open' });
  await service.bank.setCardDispute(reference, 'credited');
  await becomes(dispute.id, { credited_minor: PAID });
  const run = async (command: string): Promise<unknown> => {
    const { code, out, error } = await bursar(`card-disputes ${command} --json`, service.env);
    if (code !== 0) throw new Error(error);
    return JSON.parse(out);
  };
  expect(await run(`list --payment ${id}`)).toMatchObject([{ id: dispute.id, card }]);
  expect(await run(`list --card ${card}`)).toMatchObject([{ id: dispute.id, status: 'open' }]);
  const shown = await run(`show ${dispute.id}`);
  expect(shown).toMatchObject({
    status: 'open',
    submission: expect.stringMatching(/^cop_/) as string,
    withdrawal: null,
    attention: null,
    reports: expect.arrayContaining([
      expect.objectContaining({ report: 'credited', amount_minor: PAID }),
    ]) as object[],
  });
  expect(JSON.stringify(shown)).not.toContain(words.explanation);
  expect(await bursar('card-disputes show cdp_none', service.env)).toMatchObject({ code: 1 });
});

test.each(['001', '004', '007', '009', '010'])(
  'a dispute reaches the issuer once, whatever becomes of the answers and the messages (%s)',
  async (suffix) => {
    const { dispute } = await disputed(suffix);
    await becomes(dispute.id, { status: 'open' });
    expect((await journalOf(dispute.id)).filter((kind) => kind === 'card_disputed')).toHaveLength(
      1,
    );
    await hasEvents(dispute.id, 'card.dispute.opened');
  },
);

test('a dispute that the issuer refuses is failed', async () => {
  const { dispute, id } = await disputed('002');
  const failed = await becomes(dispute.id, { status: 'failed' });
  expect(failed.failure?.code).toBe('dispute_refused');
  await hasEvents(dispute.id, 'card.dispute.failed');
  expect((await raise(id)).status).toBe(201);
});

test('an issuer that does not answer calls an operator, and its report later opens the dispute', async () => {
  const { dispute, reference } = await disputed('006');
  const { operation_id: operation } = await stored(dispute.id);
  await eventually('an operator is called', async () => {
    const found = await service.deps.cards.operations.get(tenant.id, operation);
    return found?.attention ?? undefined;
  });
  expect((await read(dispute.id)).status).toBe('pending');
  await service.bank.setCardDispute(reference, 'submitted');
  await becomes(dispute.id, { status: 'open' });
});

test('a decision whose report was lost is found when an operator verifies', async () => {
  const { dispute, reference, card } = await disputed('789');
  await becomes(dispute.id, { status: 'open' });
  await service.bank.setCardDispute(reference, 'won', { report: false });
  const { operation_id: id } = await stored(dispute.id);
  const operation = await service.deps.cards.operations.get(tenant.id, id);
  if (!operation) throw new Error('there is no operation');
  const sent = { actor: 'ada', reason: 'nothing was heard', session_id: null, force: false };
  await service.deps.cards.starter.command(operation, 'verify', sent);
  await becomes(dispute.id, { status: 'won', credited_minor: PAID });
  await cardHas(card, FUNDED);
});

const records = () => service.deps.database.db.collection<CardDispute>('card_disputes');

test('a decision whose report was lost is found by the daily question', async () => {
  const { dispute, reference, card } = await disputed('789');
  await becomes(dispute.id, { status: 'open' });
  const { next_check_at: check, verify_at: at } = await stored(dispute.id);
  expect(check).toEqual(at);
  expect(Number(at)).toBeGreaterThan(Date.now());
  await service.bank.setCardDispute(reference, 'credited', { report: false });
  await service.bank.setCardDispute(reference, 'won', { report: false });
  const due = { verify_at: new Date(), next_check_at: new Date() };
  await records().updateOne({ _id: dispute.id }, { $set: due, $inc: { version: 1 } });
  await becomes(dispute.id, { status: 'won', credited_minor: PAID });
  await cardHas(card, FUNDED);
  expect(await stored(dispute.id)).toMatchObject({ verify_at: null, next_check_at: null });
});

test('a dispute about which the issuer is silent for a day calls an operator, until the issuer answers', async () => {
  const { dispute } = await disputed('789');
  await becomes(dispute.id, { status: 'open' });
  const { store } = service.deps.cardDisputes;
  const one = await stored(dispute.id);
  expect(await store.noteQuestion(one, false)).toBeNull();
  expect((await stored(dispute.id)).attention).toBeNull();
  const silent_since = new Date(Date.now() - 25 * 3_600_000);
  await records().updateOne({ _id: dispute.id }, { $set: { silent_since }, $inc: { version: 1 } });
  const reason = await store.noteQuestion(one, false);
  expect(reason).toContain('the issuer');
  expect((await stored(dispute.id)).attention?.reason).toBe(reason);
  expect(await store.noteQuestion(one, false)).toBeNull();
  expect(await store.noteQuestion(one, true)).toBeNull();
  expect(await stored(dispute.id)).toMatchObject({ attention: null, silent_since: null });
});

test('a cancellation that comes after the decision finds the decision, whose report was lost', async () => {
  const { dispute, reference, card } = await disputed('789');
  await becomes(dispute.id, { status: 'open' });
  await service.bank.setCardDispute(reference, 'won', { report: false });
  expect((await cancel(dispute.id)).status).toBe(200);
  await becomes(dispute.id, { status: 'won', cancellation: 'refused', credited_minor: PAID });
  await cardHas(card, FUNDED);
});

test('a dispute at an issuer that is not configured any more is refused, and so is its cancellation', async () => {
  const { dispute, id } = await disputed('789', { amount_minor: 100 });
  await becomes(dispute.id, { status: 'open' });
  const at = async (provider: string) => {
    const set = { $set: { provider }, $inc: { version: 1 } };
    await records().updateOne({ _id: dispute.id }, set);
    const payments = service.deps.database.db.collection<{ _id: string }>('card_authorizations');
    await payments.updateOne({ _id: id }, set);
  };
  await at('gone');
  for (const { status, body } of [await raise(id), await cancel(dispute.id)]) {
    expect([status, body.error.code]).toEqual([422, 'invalid_state']);
  }
  await at('sandbox-bank');
});

test('bad input names its field, and the explanation holds no card data', async () => {
  const { id } = await payment();
  const refused = async (body: object) => {
    const { status, body: answer } = await raise(id, body);
    return [status, answer.error.code, answer.error.field];
  };
  const invalid = (field: string) => [400, 'validation_error', field];
  expect(await refused({ reason: 'bored' })).toEqual(invalid('reason'));
  expect(await refused({ explanation: '' })).toEqual(invalid('explanation'));
  expect(await refused({ explanation: 'paid with 4111111111111111' })).toEqual(
    invalid('explanation'),
  );
  expect(await refused({ amount_minor: 0 })).toEqual(invalid('amount_minor'));
  expect(await refused({ surprise: 1 })).toEqual(invalid('surprise'));
  expect(await refused({ amount_minor: PAID + 1 })).toEqual([422, 'invalid_state', 'amount_minor']);
  const transaction_reference = 'once';
  expect((await raise(id, { amount_minor: 1, transaction_reference })).status).toBe(201);
  expect(await refused({ amount_minor: 1, transaction_reference })).toEqual([
    422,
    'duplicate_reference',
    'transaction_reference',
  ]);
});

test('disputes that are raised at the same time never exceed the payment', async () => {
  const { id } = await payment();
  const [part, fit] = [3_000, Math.floor(PAID / 3_000)];
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      raise(id, { amount_minor: part, transaction_reference: `at-once-${i}` }),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  expect(answers.length - refused.length).toBe(fit);
  for (const { status, body } of refused) {
    expect([status, body.error.code, body.error.field]).toEqual([
      422,
      'invalid_state',
      'amount_minor',
    ]);
  }
  const rest = await Promise.all([raise(id), raise(id)]);
  expect(rest.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422]);
  const { data } = (await cards.call<PaymentView>('GET', `/cards/authorizations/${id}`)).body;
  expect(data.disputed_minor).toBe(PAID);
  const { body: list } = await cards.call<DisputeView[]>(
    'GET',
    `/cards/disputes?authorization_id=${id}`,
  );
  const amounts = list.data.map(({ amount_minor: minor }) => minor);
  expect(amounts.reduce((sum, minor) => sum + minor, 0)).toBe(PAID);
});

test('a repeat under one key raises one dispute', async () => {
  const { id } = await payment();
  const body = { amount_minor: 100, idempotency_key: 'complaint' };
  const [first, second] = [await raise(id, body), await raise(id, body)];
  expect([first.status, second.text]).toEqual([201, first.text]);
  const { body: list } = await cards.call<DisputeView[]>(
    'GET',
    `/cards/disputes?authorization_id=${id}`,
  );
  expect([list.data.length, list.pagination?.total]).toEqual([1, 1]);
});

test('a tenant neither sees nor disputes nor cancels what belongs to another', async () => {
  const { dispute, id, card } = await disputed('789');
  const other = cardClient(await service.tenant());
  const get = await other.call('GET', `/cards/disputes/${dispute.id}`);
  const post = await other.call('POST', `/cards/disputes/${dispute.id}/cancel`, {});
  expect([get.status, post.status, (await raise(id, {}, other)).status]).toEqual([404, 404, 404]);
  for (const query of ['', `?card_id=${card}`, `?authorization_id=${id}`, '?status=open']) {
    const { body } = await other.call<DisputeView[]>('GET', `/cards/disputes${query}`);
    expect(body.data).toEqual([]);
  }
  const own = await cards.call<DisputeView[]>('GET', `/cards/disputes?card_id=${card}`);
  expect(own.body.data.map((each) => each.id)).toEqual([dispute.id]);
});

test('the books and the journal of the issuer agree', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});
