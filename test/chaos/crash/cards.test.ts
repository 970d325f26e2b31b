import { cardEventSender, FUNDED_MINOR, fundingsOf } from '../../support/card-events.js';
import { cardClient, changesOf, type CardClient } from '../../support/cards.js';
import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';
import { newId } from '../../../src/shared/ids.js';

/** kill -9 while a card is being locked, and while its issuer reports the lock. */
let service: Service;
let tenant: TestTenant;
let cards: CardClient;
let issuer: ReturnType<typeof cardEventSender>;
let fundings: ReturnType<typeof fundingsOf>;

beforeAll(async () => {
  service = await startService({
    env: {
      BURSAR_PROVIDER_EVENT_RETRY_SECONDS: '0.3,0.3',
      // Longer than a slow machine needs to kill the worker while it waits for an answer.
      SANDBOX_BANK_TIMEOUT_MS: '10000',
    },
  });
  tenant = await service.tenant();
  cards = cardClient(tenant);
  issuer = cardEventSender(service);
  fundings = fundingsOf(service, tenant);
});
afterAll(() => service?.close());

test('a lock whose worker dies after the issuer applied it and before that is recorded is confirmed, and set once', async () => {
  const ids = await Promise.all([cards.issue(), cards.issue(), cards.issue()]);
  const locks = await Promise.all(
    ids.map(async ({ id }) => {
      const { status, text, body } = await cards.act(id, 'lock', { request_id: 'killed-004' });
      expect([status, text]).toEqual([201, expect.anything()]);
      return { id, operation: body.data.id };
    }),
  );
  for (const { id } of locks) {
    await eventually('the issuer has set it', async () =>
      (await changesOf(service, id)).length > 0 ? true : undefined,
    );
  }
  await service.worker.kill();
  const open = await Promise.all(
    locks.map(({ operation }) => service.deps.cards.operations.find(operation)),
  );
  expect(open.filter((request) => request?.status === 'processing').length).toBeGreaterThan(0);
  await service.worker.start();
  for (const { id, operation } of locks) {
    await cards.waitForOperation(id, operation, 'completed');
    expect(await changesOf(service, id)).toEqual(['card_locked']);
  }
});

test('a card event whose API dies right after its answer is applied by the worker', async () => {
  const card = await cards.issue();
  const operation = await fundings.fund(card, '006');
  const temporal = `127.0.0.1:${await service.deadPort()}`;
  const api = await service.newApi({ TEMPORAL_ADDRESS: temporal });
  await api.start();
  const about = { reference: operation, card: await fundings.issuedAs(card) };
  const funded = issuer.about('card.funded', about);
  expect(await issuer.post(funded, { api: api.url })).toMatchObject({ status: 200 });
  await api.kill();
  await cards.waitForOperation(card.id, operation, 'completed');
  await issuer.waitFor(operation, 'processed');
  expect((await cards.balance(card.id)).available_minor).toBe(FUNDED_MINOR);
  expect(await service.bank.setFundingOutcome(operation, 'funded')).toBe(200);
});

test('each of many card events is applied once although the worker is killed in the middle', async () => {
  const card = await cards.issue();
  const issued = await fundings.issuedAs(card);
  const operations = Array.from({ length: 30 }, () => newId('cardOperation'));
  for (const operation of operations) {
    await fundings.fundAtIssuer(issued, operation);
    await fundings.accept(card, operation);
  }
  const posted = operations.map((reference) =>
    issuer.post(issuer.about('card.funded', { reference, card: issued })),
  );
  const applied = { card_id: card.id, status: 'processed', event: 'card.funded' };
  await eventually('some are applied', async () =>
    (await service.deps.database.db.collection('provider_events').countDocuments(applied)) > 2
      ? true
      : undefined,
  );
  await service.worker.kill();
  await Promise.all(posted);
  await service.worker.start();
  for (const operation of operations) {
    await issuer.waitFor(operation, 'processed');
    await cards.waitForOperation(card.id, operation, 'completed');
  }
  expect((await cards.balance(card.id)).available_minor).toBe(operations.length * FUNDED_MINOR);
});

test('after the crashes the ledger balances, and every card operation agrees with the issuer', async () => {
  expect(await service.problems()).toEqual([]);
});
