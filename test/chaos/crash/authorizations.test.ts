import {
  authorizationId,
  type CardAuthorization,
} from '../../../src/capabilities/card-authorizations/record.js';
import { authorizationWorkflowId } from '../../../src/capabilities/card-authorizations/workflow-contract.js';
import { cardClient } from '../../support/cards.js';
import { eventually } from '../../support/eventually.js';
import {
  authorizationEvent,
  authorizationRequest,
  issuerClient,
  type IssuerClient,
} from '../../support/issuer.js';
import { startLossyProxy } from '../../support/lost-answer.js';
import { startService, type Service } from '../../support/service.js';
import { inTries } from '../../support/tries.js';

/** The worker is killed before it asks about a hold for the first time: the next question is a day later. */
const HOLD_SECONDS = 30;
const BALANCE_MINOR = 100_000;

let service: Service;
let issuer: IssuerClient;

beforeAll(async () => {
  const holdDays = String(HOLD_SECONDS / (24 * 60 * 60));
  service = await startService({ env: { BURSAR_AUTHORIZATION_HOLD_DAYS: holdDays } });
  issuer = issuerClient(service);
});
afterAll(async () => {
  const problems = await service.problems();
  await service.close();
  expect(problems).toEqual([]);
});

async function jitCard() {
  const tenant = await service.tenant({ balanceMinor: BALANCE_MINOR });
  const { id } = await cardClient(tenant).issue({ funding: 'jit' });
  const card = await service.deps.cards.store.find(id);
  return { id, name: card?.issued?.issuer_card_id ?? '', balance: () => tenant.balance() };
}

const record = (token: string) =>
  service.deps.database.db
    .collection<CardAuthorization>('card_authorizations')
    .findOne({ _id: authorizationId('sandbox-bank', token) });
const isReleased = (token: string) =>
  eventually('the hold is released', async () =>
    (await record(token))?.status === 'expired' ? true : undefined,
  );

test('a repeated authorization request gets the same decision from another API after a crash between commit and answer', async () => {
  const card = await jitCard();
  const way = await startLossyProxy(String(service.env['MONGODB_URI']));
  try {
    const dying = await service.newApi({ MONGODB_URI: way.uri });
    await dying.start();
    const request = authorizationRequest(card.name);
    const lost = way.loseNextCommit();
    const unanswered = issuer.send(request, { url: dying.url }).catch(() => 'no answer');
    await lost;
    await dying.kill();
    expect(await unanswered).toBe('no answer');
    expect(await record(request.data.reference)).toMatchObject({ status: 'approved' });
    for (let n = 0; n < 2; n += 1) {
      expect((await issuer.send(request)).body).toEqual({
        approved: true,
        code: 'approved',
        approved_amount_minor: 5_000,
      });
    }
    expect(await card.balance()).toEqual({ available: BALANCE_MINOR - 5_000, held: 5_000 });
    // The issuer's report ends the hold.
    const expired = { name: 'card.authorization_expired', minor: 0 };
    await issuer.send(authorizationEvent(card.name, request.data.reference, expired));
    await isReleased(request.data.reference);
    expect(await card.balance()).toEqual({ available: BALANCE_MINOR, held: 0 });
  } finally {
    await way.close();
  }
});

test('a hold of which the issuer reports no end is released when the issuer is asked, even if worker and workflow are killed', async () => {
  const card = await jitCard();
  // The issuer declines a payment that a busy machine does not decide in time.
  const approved = () =>
    inTries(
      3,
      () => issuer.pay(card.id),
      (decision) => decision.approved,
    );
  const [first, second] = [await approved(), await approved()];
  expect(await card.balance()).toEqual({ available: BALANCE_MINOR - 10_000, held: 10_000 });
  // A workflow starts when its hold is due, and asks at once: without a worker it does not get that far.
  await service.worker.kill();
  const { temporal, cardAuthorizations } = service.deps;
  const held = await record(first.token);
  if (held) await cardAuthorizations.starter.start(held);
  const handle = temporal.client.workflow.getHandle(authorizationWorkflowId(held?._id ?? ''));
  expect((await handle.describe()).status.name).toBe('RUNNING');
  await handle.terminate('by a test');
  for (const { token } of [first, second]) {
    await issuer.end(token, 'expired', undefined, { report: false });
  }
  await eventually(
    'the holds are past their time',
    async () =>
      ((await record(second.token))?.expires_at?.getTime() ?? Infinity) < Date.now() || undefined,
  );
  expect((await card.balance()).held).toBe(10_000);
  await service.worker.start();
  await Promise.all([isReleased(first.token), isReleased(second.token)]);
  expect(await card.balance()).toEqual({ available: BALANCE_MINOR, held: 0 });
  // A clearing after the expiry is still debited.
  await issuer.end(first.token, 'cleared', 4_000);
  await eventually('it is taken', async () =>
    (await record(first.token))?.status === 'cleared' ? true : undefined,
  );
  expect(await card.balance()).toEqual({ available: BALANCE_MINOR - 4_000, held: 0 });
});
