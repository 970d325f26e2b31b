import { authorizationId } from '../../src/capabilities/card-authorizations/record.js';
import { cardClient, newCard, type CardClient } from './cards.js';
import { bursar } from './cli.js';
import { eventually } from './eventually.js';
import { issuerClient } from './issuer.js';
import type { PlantingProxy } from './planting-proxy.js';
import type { Service } from './service.js';
import type { TestTenant } from './tenant.js';

/** The calls to the issuer, as the answers of a proxy name them. */
const CALLS = [
  /^POST \/v1\/cards$/,
  /^GET \/v1\/cards\/by-reference\//,
  /^GET \/v1\/cards\/[^/]+$/,
  /^PUT \/v1\/cards\/[^/]+\/state$/,
  /^POST \/v1\/fundings$/,
  /^GET \/v1\/fundings\//,
  /^POST \/v1\/fundings\/[^/]+\/reverse$/,
  /^POST \/v1\/unloads$/,
  /^GET \/v1\/unloads\//,
  /^GET \/v1\/authorizations\//,
  /^POST \/v1\/disputes$/,
  /^GET \/v1\/disputes\//,
  /^POST \/v1\/disputes\/[^/]+\/withdraw$/,
];

/** A message of each subject, of each kind of report about a payment, and the request for a decision. */
const MESSAGES = [
  'card.issued',
  'card.state_changed',
  'card.funded',
  'card.funding_reversed',
  'card.authorization_requested',
  'card.authorization_advice',
  'card.cleared',
  'card.authorization_reversed',
  'card.authorization_expired',
  'card.refunded',
  'card.refund_reversed',
  'card.corrected',
  'card.dispute_submitted',
  'card.dispute_credited',
  'card.unloaded',
];

/** The calls of the issuer's port and the messages that did not pass these proxies. */
export const missedBy = (answers: PlantingProxy, messages: PlantingProxy): string[] => [
  ...CALLS.filter((call) => ![...answers.planted].some((each) => call.test(each))).map(String),
  ...MESSAGES.filter((name) => !messages.planted.has(name)),
];

/** Makes every call to the issuer, one with an answer that ends too early, and has it send its messages. */
export async function playCards(service: Service, tenant: TestTenant, answers: PlantingProxy) {
  const cards = cardClient(tenant);
  const { id: card } = (await cards.create(newCard('004'))).body.data;
  await cards.waitFor(card, 'active');
  expect((await cards.create(newCard('001'))).status).toBe(201);
  await playFundings(cards, card, answers);
  await playStates(service, cards, card);
  await playPayments(service, cards, card);
  await eventually('every callback is accepted', async () =>
    (await service.bank.callbacksWaiting()) === 0 ? true : undefined,
  );
  const { body } = await cards.act(card, 'close', { transaction_reference: 'rest-001' });
  await cards.waitForOperation(card, body.data.id, 'completed');
  await service.allEnded();
  // The comparison asks about each record again.
  expect((await bursar('reconcile --per-second 1000 --json', service.env)).error).toBe('');
}

async function playFundings(cards: CardClient, card: string, answers: PlantingProxy) {
  const fund = async (suffix: string, action: string, ends: string) => {
    const order = { amount_minor: 20_000, transaction_reference: `planted-${action}-${suffix}` };
    const { status, text, body } = await cards.act(card, action, order);
    if (status >= 300) throw new Error(text);
    await cards.waitForOperation(card, body.data.id, ends);
  };
  answers.halve('POST /v1/fundings');
  await fund('789', 'fund', 'completed');
  await fund('001', 'fund', 'completed');
  await fund('008', 'fund', 'failed');
  // It is late, and taken back.
  await fund('012', 'jit-fund', 'failed');
}

async function playStates({ bank }: Service, cards: CardClient, card: string) {
  for (const action of ['lock', 'unlock']) {
    const { body } = await cards.act(card, action, { request_id: `planted-${action}-004` });
    await cards.waitForOperation(card, body.data.id, 'completed');
  }
  for (const state of ['locked', 'active'] as const) {
    await bank.changeCard(card, state);
    await cards.waitFor(card, state);
  }
}

async function playPayments(service: Service, cards: CardClient, card: string) {
  const issuer = issuerClient(service);
  const { token: authorization, approved } = await issuer.pay(card, { amount_minor: 5_000 });
  expect(approved).toBe(true);
  await issuer.pay(card, { kind: 'increment', amount_minor: 1_000, authorization });
  const { token: advised } = await issuer.pay(card, { kind: 'advice', amount_minor: 500 });
  await issuer.end(advised, 'expired');
  await issuer.end(authorization, 'cleared', 2_000, { final: false });
  await issuer.end(authorization, 'reversed', 1_000);
  await issuer.end(authorization, 'cleared', 3_000);
  await issuer.end(authorization, 'refunded', 400);
  await issuer.end(authorization, 'refund_reversed', 100);
  await issuer.end(authorization, 'corrected', 50);
  const payment = authorizationId('sandbox-bank', authorization);
  await eventually('the payment is cleared', async () => {
    const path = `/cards/authorizations/${payment}`;
    const { data } = (await cards.call<{ status: string }>('GET', path)).body;
    return data.status === 'cleared' ? true : undefined;
  });
  await playDispute(service, cards, payment);
}

async function playDispute({ bank }: Service, cards: CardClient, payment: string) {
  const reference = 'planted-case-001';
  type View = { id: string; status: string };
  const raised = await cards.call<View>('POST', `/cards/authorizations/${payment}/disputes`, {
    reason: 'fraud',
    explanation: 'The cardholder did not pay.',
    amount_minor: 1_000,
    transaction_reference: reference,
  });
  const path = `/cards/disputes/${raised.body.data.id}`;
  const becomes = (status: string) =>
    eventually(`the dispute is ${status}`, async () =>
      (await cards.call<View>('GET', path)).body.data.status === status ? true : undefined,
    );
  await becomes('open');
  expect(await bank.setCardDispute(reference, 'credited')).toBe(200);
  expect((await cards.call('POST', `${path}/cancel`, {})).status).toBe(200);
  await becomes('cancelled');
}
