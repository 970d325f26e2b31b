import type { CardAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import { cardClient } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { issuerClient, type IssuerClient } from '../support/issuer.js';
import { startService, type Service } from '../support/service.js';

let service: Service;
let issuer: IssuerClient;

beforeAll(async () => {
  // Holds are past their time after four seconds.
  service = await startService({ env: { BURSAR_AUTHORIZATION_HOLD_DAYS: '0.00005' } });
  issuer = issuerClient(service);
});
afterAll(async () => {
  const problems = await service.problems();
  await service.close();
  expect(problems).toEqual([]);
});

const LOST = { call: 'callback', kind: 'drop_before', probability: 1 } as const;

async function jitCard() {
  const tenant = await service.tenant({ balanceMinor: 100_000 });
  const { id } = await cardClient(tenant).issue({ funding: 'jit' });
  const payments = service.deps.database.db.collection<CardAuthorization>('card_authorizations');
  const becomes = (what: string, fits: (one: CardAuthorization) => boolean) =>
    eventually(what, async () => {
      const found = await payments.findOne({ card_id: id });
      return found && fits(found) ? found : undefined;
    });
  return { id, balance: () => tenant.balance(), becomes };
}

test('a clearing whose message was lost is found at the issuer, and is booked once', async () => {
  const card = await jitCard();
  const { token } = await issuer.pay(card.id);
  await service.bank.faults([LOST]);
  await issuer.end(token, 'cleared', 2_000, { final: false });
  await issuer.end(token, 'cleared', 2_500);
  const found = await card.becomes(
    'both clearings are booked',
    ({ status }) => status === 'cleared',
  );
  expect(found).toMatchObject({ cleared_minor: 4_500n, held_minor: 0n, attention: null });
  expect(await card.balance()).toEqual({ available: 95_500, held: 0 });
  // The messages arrive after all.
  await service.bank.faults([]);
  await eventually('the messages are stored', async () => {
    const stored = await service.deps.database.db
      .collection('provider_events')
      .countDocuments({ 'facts.reference': token, event: 'card.cleared', status: 'processed' });
    return stored === 2 ? true : undefined;
  });
  expect(await card.balance()).toEqual({ available: 95_500, held: 0 });
});

test('a hold past its time stays while the issuer is silent, with attention, and ends by its answer', async () => {
  const card = await jitCard();
  await service.bank.faults([
    LOST,
    { call: 'find_authorization', kind: 'error_500', probability: 1 },
  ]);
  const { token } = await issuer.pay(card.id);
  await issuer.end(token, 'expired');
  const silent = await card.becomes('an operator is called', ({ attention }) => attention !== null);
  expect(silent).toMatchObject({ status: 'approved', held_minor: 5_000n });
  expect(silent.attention?.reason).toContain('the issuer does not say');
  expect(await card.balance()).toEqual({ available: 95_000, held: 5_000 });
  await service.bank.faults([LOST]);
  await card.becomes('the hold has ended', ({ status }) => status === 'expired');
  expect(await card.balance()).toEqual({ available: 100_000, held: 0 });
  await service.bank.faults([]);
});

test('a payment that the issuer still holds keeps its hold past its time', async () => {
  const card = await jitCard();
  await issuer.pay(card.id);
  const asked = await card.becomes(
    'the issuer was asked',
    ({ verify_at: next, expires_at: end }) => next !== null && end !== null && next > end,
  );
  expect(asked).toMatchObject({ status: 'approved', held_minor: 5_000n, attention: null });
  expect(await card.balance()).toEqual({ available: 95_000, held: 5_000 });
});
