import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/shared/ids.js';
import type { Card } from '../../../src/capabilities/cards/record.js';
import { allAtOnce } from '../../support/at-once.js';
import {
  cardEventClient,
  cardEventSender,
  FUNDED_MINOR,
  fundingsOf,
  type ReplayView,
} from '../../support/card-events.js';
import { cardClient, newCard, type CardClient, type CardView } from '../../support/cards.js';
import { bursar } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { authorizationRequest, issuerClient } from '../../support/issuer.js';
import { startService, type Service } from '../../support/service.js';
import { apiClient, type TestTenant } from '../../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let cards: CardClient;
let events: ReturnType<typeof cardEventClient>;
let issuer: ReturnType<typeof cardEventSender>;
let fundings: ReturnType<typeof fundingsOf>;

beforeAll(async () => {
  service = await startService({
    oneProcess: true,
    env: { BURSAR_PROVIDER_EVENT_RETRY_SECONDS: '0.3,6' },
  });
  tenant = await service.tenant();
  cards = cardClient(tenant);
  events = cardEventClient(tenant);
  issuer = cardEventSender(service);
  fundings = fundingsOf(service, tenant);
});
afterAll(() => service?.close());

/** Replays an event and waits for the end of it. */
async function replay(event: string): Promise<ReplayView> {
  const { status, text, body } = await events.replay(event, { headers: { prefer: 'wait=20' } });
  expect([status, text]).toEqual([201, expect.anything()]);
  if (body.data.status !== 'pending') return body.data;
  return eventually('the replay has ended', async () => {
    const { data } = (await events.replayed(event, body.data.id)).body;
    return data.status === 'pending' ? undefined : data;
  });
}

/** Posts the issuing event of a card and returns its id once it is processed. */
async function processedEventOf(card: CardView): Promise<string> {
  const stored = await service.deps.cards.store.get(tenant.id, card.id);
  await issuer.post(issuer.issued(card.id, stored?.issued));
  const { _id: id } = await issuer.waitFor(card.id, 'processed');
  return id;
}

const count = (filter: object) =>
  service.deps.database.db.collection('provider_events').countDocuments(filter);

describe('a provider event', () => {
  test('about a payment reaches its card whatever the form of the issuer’s ids', async () => {
    for (const own of [() => randomUUID(), () => `90${process.pid}`, () => `card_${process.pid}`]) {
      const card = await cards.issue();
      const [issuerCard, token] = [own(), own()];
      await service.deps.database.db
        .collection<Card>('cards')
        .updateOne({ _id: card.id }, { $set: { 'issued.issuer_card_id': issuerCard } });
      const ids = { reference: token, card: issuerCard, message_id: `advice-${token}` };
      const body = issuer.about('card.authorization_advice', ids);
      expect(await issuer.post(body)).toMatchObject({ status: 200 });
      expect(await issuer.waitFor(token, 'processed')).toMatchObject({
        tenant_id: tenant.id,
        card_id: card.id,
      });
    }
  });

  test('is stored once however often it is repeated, listed, and applied once', async () => {
    const card = await cards.issue();
    const operation = await fundings.fund(card, '009');
    await cards.waitForOperation(card.id, operation, 'completed');
    // The issuer sends the same event again, five times at once.
    const again = issuer.about('card.funded', {
      reference: operation,
      card: await fundings.issuedAs(card),
    });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => issuer.post(again)));
    expect(answers).toEqual(answers.map(() => ({ status: 200, data: { received: true } })));
    const body = await eventually('the issuer has told it all', async () => {
      const listed = (await events.list(card.id, '?limit=100')).body;
      const done = listed.data.every(({ status }) => status === 'processed');
      return listed.data.length >= 4 && done ? listed : undefined;
    });
    expect(body.data.map(({ event }) => event).toSorted()).toEqual([
      'card.funded',
      'card.funded',
      'card.funded',
      'card.funding_pending',
    ]);
    for (const event of body.data) {
      expect(event).toEqual({
        id: expect.stringMatching(/^pev_/),
        card_id: card.id,
        provider: 'sandbox-bank',
        event: expect.any(String),
        // The issuer's message: amounts and states, and no text of it.
        data: expect.objectContaining({ event: event.event, data: expect.any(Object) }),
        status: 'processed',
        received_at: expect.any(String),
        processed_at: expect.any(String),
      });
    }
    expect((await cards.balance(card.id)).available_minor).toBe(FUNDED_MINOR);
  });

  test('before the answer to our request issues the card', async () => {
    const { body } = await cards.create(newCard('001'));
    const card = await cards.waitFor(body.data.id, 'active');
    await issuer.allProcessed();
    const [issued] = (await events.list(card.id)).body.data;
    expect(issued).toMatchObject({ event: 'card.issued', status: 'processed', card_id: card.id });
  });

  test('about a funding that has ended changes nothing', async () => {
    const card = await cards.issue();
    const operation = await fundings.fund(card, '002');
    const { failure } = await cards.waitForOperation(card.id, operation, 'failed');
    const data = { reference: operation, card: await fundings.issuedAs(card) };
    await issuer.post(issuer.about('card.funding_refused', data));
    await issuer.post(issuer.about('card.funding_pending', data));
    await issuer.allProcessed();
    expect(await cards.operation(card.id, operation)).toMatchObject({ status: 'failed', failure });
    expect((await cards.balance(card.id)).available_minor).toBe(0);
  });

  test('about no card of ours is stored without sensitive data, and calls an operator if money has moved', async () => {
    const pan = '4111111111111111';
    const about = issuer.about('card.funded', { reference: pan, card: 'ic_nobody' });
    const { id } = about;
    expect(await issuer.post({ ...about, id: `${id}-${pan}` })).toMatchObject({ status: 200 });
    await issuer.post(
      issuer.about('card.funding_pending', { reference: pan, card: 'ic_nobody_2' }),
    );
    await issuer.allProcessed();
    const storedOf = (issuerCard: string) =>
      service.deps.database.db
        .collection('provider_events')
        .findOne({ 'facts.issuer_card': issuerCard });
    const found = await storedOf('ic_nobody');
    expect(found).toMatchObject({
      tenant_id: null,
      card_id: null,
      status: 'failed',
      attention: { reason: 'its card is not known here' },
    });
    expect(await storedOf('ic_nobody_2')).toMatchObject({ status: 'ignored', attention: null });
    expect(
      JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
    ).not.toContain(pan);
  });

  test('about a payment whose token has digits that add up as those of cards do is applied like any other', async () => {
    const card = await cards.issue();
    const token = 'auth_b0c4242424242424242fa91e0d77cb5a3';
    const data = { reference: token, message_id: 'm_1', card: await fundings.issuedAs(card) };
    await issuer.post(issuer.about('card.authorization_expired', data));
    expect(await issuer.waitFor(token, 'processed')).toMatchObject({ result: 'applied' });
  });

  test('that requests a payment of an unknown kind is declined, stored, and shown to operators', async () => {
    const card = await cards.issue();
    const request = authorizationRequest(await fundings.issuedAs(card), { kind: 'quasi_cash' });
    for (const _ of [1, 2]) {
      expect(await issuerClient(service).send(request)).toEqual({
        status: 200,
        body: { approved: false, code: 'unreadable_request', approved_amount_minor: 0 },
      });
    }
    const filter = { 'message.data.reference': request.data.reference };
    const all = service.deps.database.db.collection('provider_events').find(filter);
    const [found, ...others] = await all.toArray();
    expect(found).toMatchObject({
      event: 'card.authorization_requested',
      message: { data: { kind: 'quasi_cash' } },
      status: 'failed',
      attention: { reason: expect.any(String) as string },
    });
    expect(others).toEqual([]);
    const { out } = await bursar('provider-events list --attention --json', service.env);
    expect(out).toContain(String(found?._id));
    const decided = await cards.call<unknown[]>('GET', `/cards/${card.id}/authorizations`);
    expect(decided.body.data).toEqual([]);
  });

  test('without a signature, with another signer’s or with a changed body is refused, and nothing is stored', async () => {
    // Events of the cards of other tests may be on their way.
    await eventually('the bank has sent everything', async () =>
      (await service.bank.callbacksWaiting()) === 0 ? true : undefined,
    );
    const before = await count({});
    const about = issuer.about('card.funded', { reference: newId('cardOperation'), card: 'ic_x' });
    for (const options of [
      { secret: 'the secret of somebody else' },
      { instead: '{}' },
      { ageSeconds: 600 },
    ]) {
      expect(await issuer.post(about, options)).toMatchObject({
        status: 401,
        code: 'invalid_signature',
      });
    }
    expect(await issuer.post(about, { provider: 'nobody' })).toMatchObject({ status: 401 });
    expect(await count({})).toBe(before);
  });
});

describe('an event that can’t be applied', () => {
  allAtOnce((test) => {
    test('is retried, then fails and raises attention; one replay applies it, and further replays change nothing', async () => {
      const card = await cards.issue();
      const operation = newId('cardOperation');
      const data = { reference: operation, card: await fundings.issuedAs(card) };
      await fundings.fundAtIssuer(data.card, operation);
      await issuer.post(issuer.about('card.funded', data));
      const failed = await issuer.waitFor(operation, 'failed');
      expect(failed).toMatchObject({ attempt_count: 3, attention: { reason: failed.result } });
      const { client } = service.deps.temporal;
      const workflow = client.workflow.getHandle(`provider-event/${failed._id}`);
      const { typedSearchAttributes, status } = await workflow.describe();
      expect(status.name).toBe('RUNNING');
      expect(JSON.stringify(typedSearchAttributes)).toContain('"NeedsAttention"');
      const [listed] = (await events.list(card.id)).body.data;
      expect(listed).toMatchObject({ id: failed._id, status: 'failed', processed_at: null });

      expect(await replay(failed._id)).toMatchObject({
        event_id: failed._id,
        status: 'failed',
        failure: { code: 'not_applied' },
      });
      expect(await issuer.waitFor(operation, 'failed')).toBeDefined();

      await fundings.accept(card, operation);
      for (let i = 0; i < 3; i += 1) {
        expect(await replay(failed._id)).toMatchObject({ status: 'completed', failure: null });
      }
      expect(await issuer.waitFor(operation, 'processed')).toMatchObject({ attention: null });
      await cards.waitForOperation(card.id, operation, 'completed');
      expect((await cards.balance(card.id)).available_minor).toBe(FUNDED_MINOR);
      await workflow.result();
    });

    test('is applied without an operator if its record is created while it is retried', async () => {
      const card = await cards.issue();
      const operation = newId('cardOperation');
      await issuer.post(
        issuer.about('card.funding_pending', {
          reference: operation,
          card: await fundings.issuedAs(card),
        }),
      );
      await fundings.accept(card, operation);
      expect(await issuer.waitFor(operation, 'processed')).toMatchObject({ attention: null });
      await cards.waitForOperation(card.id, operation, 'completed');
    });
  });
});

describe('replays', () => {
  test('60 at once are all done, paced, and nothing happens twice', async () => {
    const card = await cards.issue();
    const operation = await fundings.fund(card, '001');
    await cards.waitForOperation(card.id, operation, 'completed');
    await issuer.allProcessed();
    const { data } = (await events.list(card.id)).body;
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, i) => events.replay(String(data[i % data.length]?.id))),
    );
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
    const { db } = service.deps.database;
    await eventually('all of them have ended', async () =>
      (await db.collection('provider_event_replays').countDocuments({ status: 'pending' })) === 0
        ? true
        : undefined,
    );
    const ids = made.map(({ body }) => body.data.id);
    const replays = db.collection<{ _id: string }>('provider_event_replays');
    expect(await replays.countDocuments({ _id: { $in: ids }, status: 'completed' })).toBe(60);
    expect((await cards.balance(card.id)).available_minor).toBe(FUNDED_MINOR);
  });

  test('requests with one idempotency key are one replay, and its address shows its state', async () => {
    const card = await cards.issue();
    const event = await processedEventOf(card);
    const key = `replay-${event}`;
    const [first, ...others] = await Promise.all(
      [1, 2, 3].map(() => events.replay(event, { key })),
    );
    for (const other of others) expect(other.text).toBe(first?.text);
    const { id } = (first as NonNullable<typeof first>).body.data;
    const place = `/api/v1/webhooks/cards/events/${event}/replays/${id}`;
    expect(first?.headers.get('location')).toBe(place);
    const { status, body } = await events.replayed(event, id);
    expect([status, body.data.event_id]).toEqual([200, event]);
    expect((await events.replayed(newId('providerEvent'), id)).status).toBe(404);
  });

  test('are for the tenant’s own events, with a key that may write', async () => {
    const card = await cards.issue();
    const event = await processedEventOf(card);
    const { id } = (await events.replay(event)).body.data;
    const other = cardEventClient(await service.tenant());
    expect((await other.list(card.id)).status).toBe(404);
    expect((await other.replay(event)).status).toBe(404);
    expect((await other.replayed(event, id)).status).toBe(404);
    expect((await events.replay(newId('providerEvent'))).status).toBe(404);
    expect((await events.list(newId('card'))).status).toBe(404);
    const replayWith = async (level: 'read' | 'write') => {
      const grant = { tenantId: tenant.id, level, kind: 'secret' } as const;
      const { key } = await service.deps.apiKeys.create(grant);
      const path = `/webhooks/cards/events/${event}/replay`;
      return apiClient(service.api.url, key).call('POST', path, undefined);
    };
    const refused = await replayWith('read');
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    expect((await replayWith('write')).status).toBe(201);
  });

  test('are made on the command line, too, where events are listed', async () => {
    const card = await cards.issue();
    await processedEventOf(card);
    const run = async (line: string) => {
      const { code, out, error } = await bursar(`${line} --json`, service.env);
      return { code, out: code === 0 ? JSON.parse(out) : error };
    };
    const listed = await run(`provider-events list --card ${card.id}`);
    expect(listed.out).toMatchObject([
      { card: card.id, event: 'card.issued', status: 'processed' },
    ]);
    const { id } = listed.out[0];
    const made = await run(`provider-events replay ${id}`);
    expect(made).toEqual({ code: 0, out: { id, replay: expect.stringMatching(/^rpl_/) } });
    await eventually('it is done', async () =>
      (await events.replayed(id, made.out.replay)).body.data.status === 'completed'
        ? true
        : undefined,
    );
    expect(await run(`provider-events replay ${newId('providerEvent')}`)).toMatchObject({
      code: 1,
    });
  });
});

test('a card’s list has pages of its own, the latest first', async () => {
  const card = await cards.issue();
  const reference = card.id;
  const issued = await fundings.issuedAs(card);
  await processedEventOf(card);
  for (let i = 0; i < 4; i += 1) {
    await issuer.post(
      issuer.about('card.authorization_expired', {
        reference: `a-${i}`,
        message_id: `m-${i}`,
        card: issued,
      }),
    );
  }
  await issuer.allProcessed();
  const all = (await events.list(card.id)).body.data;
  expect(all.at(-1)).toMatchObject({ event: 'card.issued', card_id: reference });
  const pages = await Promise.all(
    [1, 2, 3, 4].map((page) => events.list(card.id, `?limit=2&page=${page}`)),
  );
  expect(pages.flatMap(({ body }) => body.data)).toEqual(all);
  expect(pages[0]?.body.pagination).toEqual({
    page: 1,
    limit: 2,
    total: 5,
    pages: 3,
    has_more: true,
  });
  expect((await events.list(card.id, '?offset=1')).status).toBe(400);
});
