import type { Card } from '../../src/capabilities/cards/record.js';
import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import { presentOperation } from '../../src/capabilities/cards/presenter.js';
import { approvedPayload } from '../support/approvals.js';
import { cardClient, changesOf, type CardClient, type OperationView } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { SHARED_OPTIONS, shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let cards: CardClient;

beforeAll(async () => {
  service = await shareService(SHARED_OPTIONS.twoApis);
  tenant = await service.tenant();
  cards = cardClient(tenant);
});
afterAll(async () => {
  await service?.close();
});

const stored = async (id: string) => (await service.deps.cards.store.find(id)) as Card;
const operationOf = async (id: string) =>
  (await service.deps.cards.operations.find(id)) as CardOperation;
const workflow = (card: string) =>
  service.deps.temporal.client.workflow.getHandle(`card-state/${card}`);

/** The card's state at the issuer, and the sequence number that set it. */
async function atIssuer(card: string): Promise<[string, number]> {
  const { provider, issued } = await stored(card);
  const signal = AbortSignal.timeout(5_000);
  const answer = await service.deps.providers
    .issuer(provider)
    .readState(String(issued?.issuer_card_id), signal);
  if (answer.kind !== 'state') throw new Error(`the issuer says ${answer.kind}`);
  return [answer.state, answer.version];
}

async function act(card: string, action: string, body?: Record<string, unknown>): Promise<string> {
  const { status, text, body: answer } = await cards.act(card, action, body);
  if (status !== 201) throw new Error(`not accepted: ${text}`);
  return answer.data.id;
}

const present = async (operation: string) => presentOperation(await operationOf(operation));

const untilIs = (operation: string, fits: (is: OperationView) => boolean) =>
  eventually(`${operation} is as wanted`, async () => {
    const is = await present(operation);
    return fits(is) ? is : undefined;
  });

const ended = (operation: string) =>
  untilIs(operation, ({ status }) => status === 'completed' || status === 'failed');

/** Waits until the card has no open operation and its workflow has ended. */
async function onceSettled(card: string): Promise<Card> {
  await eventually(`nothing is under way for ${card}`, async () =>
    (await stored(card)).state_control.pending_operation_id === null ? true : undefined,
  );
  await workflow(card).result();
  return stored(card);
}

const lines = async (operation: string) =>
  (await operationOf(operation)).timeline.map(({ type, detail }) => `${type}: ${detail}`);

const failing = () =>
  service.bank.faults([{ call: 'set_state', kind: 'error_500', probability: 1 }]);

describe('lock and unlock', () => {
  test('a lock holds with its answer and is then set at the issuer; an unlock opens when the issuer has confirmed', async () => {
    const { id } = await cards.issue();
    const body = { reason: 'reported as lost', request_id: 'req-1', branch: 'Yaba' };
    const { status, headers, body: answer } = await cards.act(id, 'lock', body);
    const { id: lock } = answer.data;
    expect([status, headers.get('location')]).toEqual([
      201,
      `/api/v1/cards/${id}/operations/${lock}`,
    ]);
    expect(answer.data).toMatchObject({
      card_id: id,
      type: 'lock',
      status: 'pending',
      reason: 'reported as lost',
      request_id: 'req-1',
      metadata: { branch: 'Yaba' },
      amount_minor: null,
    });
    expect((await cards.get(id)).status).toBe('locked');
    expect(await ended(lock)).toMatchObject({ status: 'completed', failure: null });
    expect(await atIssuer(id)).toEqual(['locked', 1]);
    expect((await service.bank.journal(id)).at(-1)).toMatchObject({
      kind: 'card_locked',
      client_reference: 'req-1',
    });

    const again = await cards.act(id, 'lock');
    expect(again.body.data).toMatchObject({ status: 'completed' });
    expect((await stored(id)).state_control).toMatchObject({
      sequence: 1,
      pending_operation_id: null,
    });

    const unlock = await act(id, 'unlock');
    expect(await ended(unlock)).toMatchObject({ status: 'completed' });
    expect((await cards.get(id)).status).toBe('active');
    expect(await atIssuer(id)).toEqual(['open', 2]);
    await onceSettled(id);
  });

  test('a lock holds and is set once at an issuer that refuses first, does not answer or fails', async () => {
    const suffixes = ['002', '004', '005', '007'];
    await Promise.all(
      suffixes.map(async (suffix) => {
        const { id } = await cards.issue();
        const lock = await act(id, 'lock', { request_id: `lock-${suffix}` });
        expect((await cards.get(id)).status).toBe('locked');
        expect(await ended(lock)).toMatchObject({ status: 'completed', attention: null });
        expect(await changesOf(service, id)).toEqual(['card_locked']);
        expect(await atIssuer(id)).toEqual(['locked', 1]);
        const logLines = await lines(lock);
        expect(logLines.some((line) => line.includes('not_now'))).toBe(suffix === '002');
      }),
    );
  });

  test('a hundred at a time by two processes, and fundings between them: issuer and store end equal, as the newest wants it', async () => {
    const { id } = await cards.issue();
    const action = () => (Math.random() < 0.5 ? 'lock' : 'unlock');
    const fundings = service.apis.flatMap(({ url }) =>
      Array.from({ length: 10 }, () =>
        tenant.at(url).call('POST', `/cards/${id}/fund`, '{"amount_minor":1000}'),
      ),
    );
    const replies = await Promise.all(
      service.apis.flatMap(({ url }) =>
        Array.from({ length: 50 }, () =>
          tenant.at(url).call('POST', `/cards/${id}/${action()}`, '{}'),
        ),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array.from(replies, () => 201));
    // A card that is locked takes none, and one that was taken is not held up by any lock.
    const funded = (await Promise.all(fundings)).filter((reply) => reply.status === 201);
    for (const { body } of funded) await ended(body.data.id);
    expect((await cards.balance(id)).available_minor).toBe(1_000 * funded.length);
    const { status, state_control: control } = await onceSettled(id);
    expect(control.confirmed_sequence).toBe(control.sequence);
    expect(await atIssuer(id)).toEqual([control.desired, control.sequence]);
    expect(status).toBe(control.desired === 'open' ? 'active' : 'locked');

    // The journal says the same: it never went from one state to the same again.
    const changes = await changesOf(service, id);
    changes.forEach((change, i) => expect(change).not.toBe(changes[i - 1]));
    const operations = await service.deps.database.db
      .collection<CardOperation>('card_operations')
      .find({ card_id: id, type: { $in: ['lock', 'unlock'] } })
      .toArray();
    expect(operations).toHaveLength(100);
    const newest = operations.find(({ state_sequence: number }) => number === control.sequence);
    expect(newest).toMatchObject({ status: 'completed' });
    for (const { status: end, failure, next_check_at: dueAt } of operations) {
      expect([end, failure?.code]).toEqual(
        end === 'completed' ? ['completed', undefined] : ['failed', 'superseded'],
      );
      expect(dueAt).toBeNull();
    }
  });

  test('one key at both processes at once: one operation, and the same bytes', async () => {
    const { id } = await cards.issue();
    const replies = await Promise.all(
      service.apis.map(({ url }) =>
        tenant.at(url).call('POST', `/cards/${id}/lock`, '{}', { key: `lock ${id}` }),
      ),
    );
    expect(replies[0]?.text).toBe(replies[1]?.text);
    await onceSettled(id);
    const again = await cards.act(id, 'lock', {}, { key: `lock ${id}` });
    expect(again.text).toBe(replies[0]?.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await stored(id)).state_control.sequence).toBe(1);
    const other = await cards.act(id, 'unlock', {}, { key: `lock ${id}` });
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
  });

  test('a card operation whose workflow was not started is started by the dispatcher', async () => {
    const { id } = await cards.issue();
    const lock = await act(id, 'lock', { request_id: 'left' });
    await workflow(id)
      .terminate('as if it had never been')
      .catch(() => null);
    expect(await ended(lock)).toMatchObject({ status: 'completed' });
    expect(await atIssuer(id)).toEqual(['locked', 1]);
  });
});

describe('closing', () => {
  test('a closed card is closed at once and for good, at the issuer too, and ends an unlock under way', async () => {
    const { id } = await cards.issue();
    await ended(await act(id, 'lock'));
    await failing();
    const unlock = await act(id, 'unlock');
    const close = await act(id, 'close', { reason: 'not needed' });
    expect((await cards.get(id)).status).toBe('closed');
    expect(await present(unlock)).toMatchObject({ failure: { code: 'superseded' } });
    await service.bank.faults([]);
    expect(await ended(close)).toMatchObject({ type: 'close', status: 'completed' });
    expect(await atIssuer(id)).toEqual(['closed', 3]);
    for (const action of ['lock', 'unlock']) {
      const { status, body } = await cards.act(id, action);
      expect([status, body.error]).toMatchObject([
        422,
        { code: 'invalid_state', details: { status: 'closed' } },
      ]);
    }
    expect((await cards.act(id, 'close')).body.data).toMatchObject({ status: 'completed' });
  });

  test('a card whose month is over expires once, without a request to the issuer', async () => {
    const { id } = await cards.issue();
    await service.deps.database.db
      .collection<Card>('cards')
      .updateOne({ _id: id }, { $set: { 'issued.expiry_year': 2025 }, $inc: { version: 1 } });
    await service.deps.cardStates.expireCards(100);
    expect((await cards.get(id)).status).toBe('expired');
    expect(await changesOf(service, id)).toEqual([]);
    expect((await cards.act(id, 'unlock')).body.error.code).toBe('invalid_state');
  });
});

describe('invalid requests', () => {
  test.each([
    [{ reason: 7 }, 'reason'],
    [{ reason: 'a'.repeat(201) }, 'reason'],
    [{ reason: 'card 4111 1111 1111 1111' }, 'reason'],
    [{ request_id: 'ends with a space ' }, 'request_id'],
    [{ request_id: '' }, 'request_id'],
    [{ request_id: '4111111111111111' }, 'request_id'],
    [{ idempotency_key: '' }, 'idempotency_key'],
    [{ metadata: 'text' }, 'metadata'],
    [{ number: '4111111111111111' }, 'number'],
    [{ a: { b: { c: { d: { e: { f: 1 } } } } } }, 'a.b.c.d.e'],
  ])(
    'the body %j is refused by the name of its wrong field, and changes nothing',
    async (body, field) => {
      const { id } = await issued();
      for (const action of ['lock', 'unlock', 'close']) {
        const { status, body: answer } = await cards.act(id, action, body);
        expect([status, answer.error.code]).toEqual([400, 'validation_error']);
        expect(answer.error.field).toBe(field);
      }
      expect((await stored(id)).state_control.sequence).toBe(0);
    },
  );

  test('without a body; of an unknown card; of another tenant; one that is not issued yet', async () => {
    const { id } = await cards.issue();
    const bare = await tenant.call('POST', `/cards/${id}/lock`, undefined);
    expect(bare.status).toBe(201);
    const other = cardClient(await service.tenant());
    expect((await other.act(id, 'unlock')).status).toBe(404);
    expect((await cards.act('crd_00000000000000000000000000', 'lock')).status).toBe(404);
    // Stays pending: the issuer never answers, and never issues.
    await service.bank.faults([{ call: 'issue', kind: 'error_500', probability: 1 }]);
    const pending = (await cards.create()).body.data.id;
    const refused = await cards.act(pending, 'lock');
    await service.bank.faults([]);
    expect([refused.status, refused.body.error.details]).toEqual([422, { status: 'pending' }]);
  });

  let one: Promise<{ id: string }> | undefined;
  const issued = () => (one ??= cards.issue());
});

describe('operators', () => {
  const payload = { actor: 'ada', reason: 'a customer asks', session_id: null, force: false };
  const command = async (
    operation: string,
    kind: 'complete' | 'fail' | 'verify',
    force = false,
  ) => {
    const record = await operationOf(operation);
    const given = force ? await approvedPayload(service.deps, 'cards', record, payload) : payload;
    return service.deps.cards.starter.command(record, kind, given);
  };

  test('a card that differs at the issuer raises attention; only a forced failure ends its operation, and the card stays locked', async () => {
    const { id } = await cards.issue();
    await failing();
    const lock = await act(id, 'lock');
    await untilIs(lock, ({ attention }) => attention !== null);
    expect(await command(lock, 'complete')).toMatchObject({ done: false });
    expect(await command(lock, 'fail')).toMatchObject({ done: false });
    expect((await present(lock)).status).toBe('processing');
    expect(await command(lock, 'fail', true)).toMatchObject({
      done: true,
      message: expect.stringContaining('the card stays locked or closed here'),
    });
    await service.bank.faults([]);
    expect(await present(lock)).toMatchObject({
      status: 'failed',
      failure: { code: 'operator' },
      attention: null,
    });
    expect(await lines(lock)).toContainEqual(
      'completed: the card stays locked here; the issuer has not confirmed it',
    );
    expect((await onceSettled(id)).status).toBe('locked');

    // With nothing under way a command is answered all the same.
    const late = { done: false, message: 'The lock is failed already.' };
    expect(await command(lock, 'verify')).toEqual(late);
    // The issuer may have it either way: the next lock is sent.
    expect(await ended(await act(id, 'lock'))).toMatchObject({ status: 'completed' });
    expect(await atIssuer(id)).toEqual(['locked', 2]);
  });
});
