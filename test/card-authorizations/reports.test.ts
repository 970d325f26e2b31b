import type { CardAuthorization } from '../../src/capabilities/card-authorizations/record.js';
import { cardClient } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { authorizationEvent, authorizationRequest, issuerClient } from '../support/issuer.js';
import { shareService, type Service } from '../support/service.js';

let service: Service;
beforeAll(async () => {
  service = await shareService();
});
afterAll(() => service?.close());

test.each([
  ['alone, and then in a list', (alone: object, list: object) => [alone, list, alone]],
  ['in a list, and then alone', (alone: object, list: object) => [list, alone, list]],
])('a report that the issuer tells %s has its effect once', async (_, inOrder) => {
  const tenant = await service.tenant({ balanceMinor: 100_000 });
  const { id } = await cardClient(tenant).issue({ funding: 'jit' });
  const name = String((await service.deps.cards.store.find(id))?.issued?.issuer_card_id);
  const issuer = issuerClient(service);
  const request = authorizationRequest(name);
  const { reference } = request.data;
  const tell = async (message: object) =>
    expect(await issuer.send(message)).toMatchObject({ status: 200 });
  await tell(request);
  const cleared = authorizationEvent(name, reference, { minor: 2_000 });
  const refunded = authorizationEvent(name, reference, { name: 'card.refunded', minor: 500 });
  const reports = [cleared, refunded].map(({ id: _id, ...report }) => report);
  const data = { reference, card: name, reports };
  const list = { ...cleared, id: `${cleared.id}-list`, event: 'card.authorization_updated', data };
  for (const message of inOrder(cleared, list)) await tell(message);
  await eventually('both reports have had their effects', async () => {
    const payments = service.deps.database.db.collection<CardAuthorization>('card_authorizations');
    const wanted = { tenant_id: tenant.id, cleared_minor: 2_000n, refunded_minor: 500n };
    return (await payments.countDocuments(wanted)) === 1 ? true : undefined;
  });
  expect(await tenant.balance()).toEqual({ available: 98_500, held: 0 });
  // The issuer has no such payment, so nothing of it may stay.
  await tell(authorizationEvent(name, reference, { name: 'card.authorization_reversed' }));
  await eventually('its money is back', async () =>
    (await tenant.balance()).available === 100_000 ? true : undefined,
  );
});
