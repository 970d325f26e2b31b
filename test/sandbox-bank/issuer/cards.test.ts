import { setTimeout as sleep } from 'node:timers/promises';
import { startSandboxBank, type RunningSandboxBank } from '../../../sandbox-bank/server.js';
import { cardClient, startCardService, type CardBody, type CardClient } from './support.js';
import {
  bankClient,
  eventually,
  removeFolder,
  SECRET,
  staysSilent,
  temporaryFolder,
} from '../support.js';

let folder: string;
let service: Awaited<ReturnType<typeof startCardService>>;
let bank: RunningSandboxBank;
let careless: RunningSandboxBank | undefined;
let client: CardClient;
let card: CardBody;

beforeAll(async () => {
  folder = temporaryFolder();
  service = await startCardService();
  bank = await startSandboxBank({ dataDir: folder, secret: SECRET, cardCallbackUrl: service.url });
  client = cardClient(bankClient(bank.url));
  card = await client.newCard();
});

afterAll(async () => {
  await bank.close();
  await careless?.close();
  await service.close();
  removeFolder(folder);
});

const fund = async (suffix: string) => {
  const request = client.fundingRequest(card.card, suffix);
  const { status, body, headers } = await client.fund(request);
  return { request, status, body, headers };
};

describe('issuing a card', () => {
  test('at once, with an opaque id; nothing in it is as long as a card number', async () => {
    const request = client.cardRequest('789');
    const { status, body } = await client.issue(request);
    expect([status, body.status, body.state, body.version]).toEqual([201, 'issued', 'open', 0]);
    expect((await client.lookupCard(request.reference)).body).toEqual(body);
    expect((await client.show(body.card)).body).toEqual(body);
    const { reference: _r, card: _c, ...shown } = body;
    expect(JSON.stringify(shown)).not.toMatch(/\d{5}/);
    expect(await client.effects({ reference: request.reference })).toEqual([
      expect.objectContaining({
        kind: 'issued',
        client_reference: 'customer-789',
        card: body.card,
        amount_minor: null,
      }),
    ]);
  });

  test('001: later, and reported by callback only', async () => {
    const request = client.cardRequest('001');
    expect((await client.issue(request)).body).toMatchObject({ status: 'pending', card: null });
    const [callback] = await service.wait(request.reference, 1);
    expect(callback?.body).toMatchObject({
      event: 'card.issued',
      data: {
        card: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        client_reference: 'customer-001',
      },
    });
    await eventually(async () =>
      (await client.lookupCard(request.reference)).body.status === 'issued' ? true : undefined,
    );
    expect(await client.kinds(request.reference)).toEqual(['issued']);
  });

  test('002 is refused; 004 is issued without an answer, 005 neither', async () => {
    const refused = client.cardRequest('002');
    expect((await client.issue(refused)).body).toMatchObject({
      status: 'refused',
      code: 'not_eligible',
      card: null,
    });
    for (const [suffix, kinds] of [
      ['004', ['issued']],
      ['005', []],
    ] as const) {
      const request = client.cardRequest(suffix);
      expect(await staysSilent((init) => client.issue(request, init))).toBe(true);
      expect(await client.kinds(request.reference)).toEqual(kinds);
    }
  });

  test('one reference is one card, and another request under it is a conflict', async () => {
    const request = client.cardRequest('789');
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.issue(request)));
    expect(new Set(answers.map(({ body }) => body.card)).size).toBe(1);
    const other = await client.issue({ ...request, type: 'physical' });
    expect([other.status, other.body.error?.code]).toEqual([409, 'reference_conflict']);
    expect(await client.kinds(request.reference)).toEqual(['issued']);
  });
});

describe('funding a card', () => {
  test('any other reference: funded at once, and repeated with the same answer', async () => {
    const { request, status, body } = await fund('789');
    expect([status, body.status, body.amount_minor]).toEqual([201, 'funded', 150_000]);
    expect((await client.lookup(request.reference)).body).toEqual(body);
    expect((await client.fund(request)).body).toEqual(body);
    for (const change of [{ amount_minor: 1 }, { card: 'card_2' }, { client_reference: 'x' }]) {
      const { body: conflict } = await client.fund({ ...request, ...change });
      expect(conflict.error?.code).toBe('reference_conflict');
    }
    expect(await client.effects({ reference: request.reference })).toEqual([
      expect.objectContaining({
        kind: 'funded',
        client_reference: request.client_reference,
        card: card.card,
        amount_minor: 150_000,
      }),
    ]);
  });

  test('001: later, and reported by callback only', async () => {
    const { request, body } = await fund('001');
    expect(body.status).toBe('pending');
    const [callback] = await service.wait(request.reference, 1);
    expect(callback?.body).toMatchObject({
      event: 'card.funded',
      data: { card: card.card, amount_minor: 150_000, client_reference: request.client_reference },
    });
    expect(await client.kinds(request.reference)).toEqual(['funded']);
  });

  test('002 is refused, 005 never answers: nothing is funded', async () => {
    const { request, body } = await fund('002');
    expect(body).toMatchObject({ status: 'refused', code: 'funding_refused' });
    const lost = client.fundingRequest(card.card, '005');
    expect(await staysSilent((init) => client.fund(lost, init))).toBe(true);
    expect((await client.lookup(lost.reference)).body.error?.code).toBe('funding_not_found');
    for (const { reference } of [request, lost]) expect(await client.kinds(reference)).toEqual([]);
  });

  test('004: funded, but the answer never comes', async () => {
    const request = client.fundingRequest(card.card, '004');
    for (const _ of [1, 2]) {
      expect(await staysSilent((init) => client.fund(request, init))).toBe(true);
    }
    expect(await client.kinds(request.reference)).toEqual(['funded']);
  });

  test('006: pending until the outcome is set, by either reference', async () => {
    const first = (await fund('006')).request;
    expect((await client.reportOutcome(first.client_reference, 'funded')).body.status).toBe(
      'funded',
    );
    const second = (await fund('006')).request;
    expect((await client.reportOutcome(second.reference, 'failed')).body).toMatchObject({
      status: 'refused',
      code: 'declined',
    });
    expect((await client.reportOutcome(second.reference, 'funded')).status).toBe(409);
    expect((await client.reportOutcome('nobody', 'funded')).status).toBe(404);
    for (const [request, event, kinds] of [
      [first, 'card.funded', ['funded']],
      [second, 'card.funding_refused', []],
    ] as const) {
      const [callback] = await service.wait(request.reference, 1);
      expect(callback?.body.event).toBe(event);
      expect(await client.kinds(request.reference)).toEqual(kinds);
    }
  });

  test.each([
    ['007', 500, 3],
    ['010', 429, 1],
  ])('%s: %d with nothing done (%d times), then funded', async (suffix, status, times) => {
    const request = client.fundingRequest(card.card, suffix);
    for (let i = 0; i < times; i += 1) {
      expect((await client.fund(request)).status).toBe(status);
      expect(await client.kinds(request.reference)).toEqual([]);
    }
    expect((await client.fund(request)).body.status).toBe('funded');
  });

  test('008 is taken back, 009 is reported three times and out of order', async () => {
    const back = (await fund('008')).request;
    const shuffled = (await fund('009')).request;
    const events = (await service.wait(shuffled.reference, 4)).map(({ body }) => body.event);
    expect(events).toEqual(['card.funded', 'card.funding_pending', 'card.funded', 'card.funded']);
    expect(await client.kinds(shuffled.reference)).toEqual(['funded']);
    const [callback] = await service.wait(back.reference, 1);
    expect(callback?.body.event).toBe('card.funding_reversed');
    expect(await client.kinds(back.reference)).toEqual(['funded', 'funding_reversed']);
  });

  test('012: funded at once, and the answer comes after the deadline of a just-in-time funding', async () => {
    const request = client.fundingRequest(card.card, '012');
    const answered = client.fund(request);
    const deadline = sleep(2_000, 'deadline');
    expect(await Promise.race([answered, deadline])).toBe('deadline');
    expect((await client.lookup(request.reference)).body.status).toBe('funded');
    expect((await answered).body.status).toBe('funded');
    expect(await client.kinds(request.reference)).toEqual(['funded']);
  });

  test('a reversal takes everything back, once, and a pending funding never comes', async () => {
    const funded = (await fund('789')).request;
    const later = (await fund('001')).request;
    for (const _ of [1, 2]) {
      expect((await client.reverse(later.reference)).body).toMatchObject({
        status: 'refused',
        code: 'cancelled',
      });
      expect((await client.reverse(funded.reference)).body.status).toBe('reversed');
    }
    // Longer than it would have taken.
    const witness = (await fund('001')).request;
    await service.wait(witness.reference, 1);
    expect(await client.kinds(funded.reference)).toEqual(['funded', 'funding_reversed']);
    expect(await client.kinds(later.reference)).toEqual([]);
    expect(service.about(later.reference)).toEqual([]);
  });
});

test('without de-duplication a repeat funds again, a late one does nothing, and a reversal takes back both', async () => {
  careless = await startSandboxBank({
    dataDir: `${folder}/careless`,
    secret: SECRET,
    deduplicate: false,
    conclusiveAfterMs: 60_000,
  });
  const own = cardClient(bankClient(careless.url));
  const request = own.fundingRequest((await own.newCard()).card, '789');
  for (const _ of [1, 2]) expect((await own.fund(request)).body.status).toBe('funded');
  for (const [offsetMs, code] of [
    [-60_000, 'too_old'],
    [60_000, 'too_early'],
  ] as const) {
    const requested_at = new Date(Date.now() + offsetMs).toISOString();
    expect((await own.fund({ ...request, requested_at })).body.error?.code).toBe(code);
  }
  // A repeat that is refused hides nothing of the money that is there.
  await own.setState(request.card, 'closed', 1);
  expect((await own.fund(request)).body).toMatchObject({ status: 'refused', code: 'card_closed' });
  expect((await own.lookup(request.reference)).body.status).toBe('funded');
  await own.reverse(request.reference);
  expect(await own.kinds(request.reference)).toEqual([
    'funded',
    'funded',
    'funding_reversed',
    'funding_reversed',
  ]);
});

describe('the state of a card', () => {
  test('the newest version of a card’s state wins, and the journal has each change once', async () => {
    const { card: id, reference } = await client.newCard();
    const answers: unknown[] = [];
    for (const [state, version] of [
      ['locked', 3],
      ['open', 2],
      ['locked', 3],
      ['open', 3],
      ['locked', 4],
      ['open', 5],
      ['closed', 6],
      ['open', 7],
    ] as const) {
      const { body } = await client.setState(id, state, version);
      answers.push(body.error?.code ?? [body.state, body.version]);
    }
    expect(answers).toEqual([
      ['locked', 3],
      'superseded',
      ['locked', 3],
      'version_conflict',
      ['locked', 4],
      ['open', 5],
      ['closed', 6],
      'card_closed',
    ]);
    const changes = ['card_locked', 'card_opened', 'card_closed'];
    expect(await client.kinds(reference)).toEqual(['issued', ...changes]);
    expect((await client.setState('card_nowhere', 'open', 1)).body.error?.code).toBe(
      'card_not_found',
    );
  });

  test('002 refuses twice, 007 fails three times, 005 is silent once: then it is done', async () => {
    for (const [suffix, outcomes] of [
      ['002', [422, 422, 200]],
      ['007', [500, 500, 500, 200]],
      ['005', ['silent', 200]],
    ] as const) {
      const { card: id, reference } = await client.newCard();
      for (const outcome of outcomes) {
        expect(await client.kinds(reference)).toEqual(['issued']);
        const set = (init = {}) => client.setState(id, 'locked', 1, suffix, init);
        if (outcome === 'silent') expect(await staysSilent(set)).toBe(true);
        else expect((await set()).status).toBe(outcome);
      }
      expect(await client.kinds(reference)).toEqual(['issued', 'card_locked']);
    }
  });

  test('004: done, but the answer never comes', async () => {
    const { card: id } = await client.newCard();
    expect(await staysSilent((init) => client.setState(id, 'locked', 1, '004', init))).toBe(true);
    expect((await client.show(id)).body).toMatchObject({ state: 'locked', version: 1 });
  });
});

test('transfers and cards share one journal, and its numbers have no gaps', async () => {
  const transfers = bankClient(bank.url);
  await transfers.submit(transfers.transferRequest('789'));
  await fund('789');
  const all = await client.effects();
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, i) => i + 1));
  expect(all.slice(-2).map(({ kind }) => kind)).toEqual(['paid', 'funded']);
});
