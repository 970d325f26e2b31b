import type { CardOperation } from '../../src/capabilities/cards/card-operation.js';
import type { Card } from '../../src/capabilities/cards/record.js';
import { bursar } from '../support/cli.js';
import { cardClient, changesOf, type CardClient } from '../support/cards.js';
import { eventually } from '../support/eventually.js';
import { shareService, startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;
let cards: CardClient;

beforeAll(async () => {
  service = await shareService();
  tenant = await service.tenant();
  cards = cardClient(tenant);
});
afterAll(() => service.close());

const stored = async (id: string): Promise<Card> => {
  const card = await service.deps.cards.store.find(id);
  if (!card) throw new Error(`there is no ${id}`);
  return card;
};

const refusedUnlock = async (id: string) => {
  const { status, body } = await cards.act(id, 'unlock');
  return [status, body.error.code, body.error.details];
};

const ended = async (id: string, action: string, body: Record<string, unknown> = {}) => {
  const reply = await cards.act(id, action, body);
  expect(reply.status).toBe(201);
  await cards.waitForOperation(id, reply.body.data.id, 'completed');
};

const resets = (card: string) =>
  service.deps.database.db
    .collection<CardOperation>('card_operations')
    .find({ card_id: card, type: 'state_reset' })
    .toArray();

describe('changes by the issuer', () => {
  test('a card that its issuer has locked is locked here, and only the issuer opens it', async () => {
    const { id } = await cards.issue();
    expect(await service.bank.changeCard(id, 'locked')).toBe(200);
    expect((await cards.waitFor(id, 'locked')).locked_by).toEqual(['issuer']);
    const details = { status: 'locked', locked_by: ['issuer'] };
    expect(await refusedUnlock(id)).toEqual([422, 'invalid_state', details]);
    expect(await service.bank.changeCard(id, 'active')).toBe(200);
    expect((await cards.waitFor(id, 'active')).locked_by).toEqual([]);
  });

  test('a lock of the issuer stays when the tenant unlocks its own lock, and the other way round', async () => {
    const { id } = await cards.issue();
    await ended(id, 'lock');
    await service.bank.changeCard(id, 'locked');
    await cards.waitFor(id, ({ locked_by }) => locked_by.length === 2);
    expect((await cards.get(id)).locked_by).toEqual(['tenant', 'issuer']);
    await service.bank.changeCard(id, 'active');
    // The tenant's lock is set again, because the issuer has opened the card.
    await eventually(`${id} is locked again`, async () => {
      const changes = await changesOf(service, id);
      return changes.filter((kind) => kind === 'card_locked').length === 2 ? true : undefined;
    });
    expect((await cards.get(id)).locked_by).toEqual(['tenant']);
    await ended(id, 'unlock');
    expect((await cards.get(id)).status).toBe('active');
  });

  test('a card that its issuer has closed is closed here, and its balance returns', async () => {
    const { id } = await cards.issue();
    const { body } = await cards.act(id, 'fund', { amount_minor: 5_000 });
    await cards.waitForOperation(id, body.data.id, 'completed');
    const before = await tenant.balance();
    expect(await service.bank.changeCard(id, 'closed')).toBe(200);
    await cards.waitFor(id, 'closed');
    await eventually('the balance is in the wallet', async () => {
      const { available } = await tenant.balance();
      return available === before.available + 5_000 ? true : undefined;
    });
  });

  test('a card that needs activation is used after its first unlock', async () => {
    const { body } = await cards.create({ customer_id: `${process.pid}-006`, type: 'virtual' });
    const { id } = await cards.waitFor(body.data.id, 'locked');
    expect((await cards.get(id)).locked_by).toEqual(['activation']);
    await ended(id, 'unlock');
    expect((await cards.get(id)).status).toBe('active');
    expect(await changesOf(service, id)).toEqual(['card_opened']);
  });

  test('a card that its issuer locks after the issuance is locked here', async () => {
    const { body } = await cards.create({ customer_id: `${process.pid}-017`, type: 'virtual' });
    await cards.waitFor(body.data.id, ({ locked_by }) => locked_by.includes('issuer'));
  });

  test('a lock that the issuer undoes is set again', async () => {
    const { id } = await cards.issue();
    await ended(id, 'lock', { request_id: `${process.pid}-008` });
    await eventually(`${id} is locked again`, async () => {
      const [reset] = await resets(id);
      return reset?.status === 'completed' ? true : undefined;
    });
    expect(await changesOf(service, id)).toEqual(['card_locked', 'card_locked']);
    expect((await cards.get(id)).status).toBe('locked');
  });
});

describe("an operator's lock", () => {
  const by = { actor: 'ada', reason: 'fraud' };

  test('is in force at once and at the issuer, and only operators lift it', async () => {
    const { id } = await cards.issue();
    const { setOperatorLock } = service.deps.cardStates;
    expect(await setOperatorLock(await stored(id), by)).toBe(true);
    expect(await setOperatorLock(await stored(id), by)).toBe(false);
    expect(await cards.get(id)).toMatchObject({ status: 'locked', locked_by: ['operator'] });
    const details = { status: 'locked', locked_by: ['operator'] };
    expect(await refusedUnlock(id)).toEqual([422, 'invalid_state', details]);
    await eventually(`${id} is locked at the issuer`, async () =>
      (await changesOf(service, id)).includes('card_locked') ? true : undefined,
    );
    expect(await setOperatorLock(await stored(id), null)).toBe(true);
    expect((await cards.waitFor(id, 'active')).locked_by).toEqual([]);
    expect(await changesOf(service, id)).toEqual(['card_locked', 'card_opened']);
  });

  test('of the command line is in the audit log with the signed-in operator, also if it changes nothing', async () => {
    const { id } = await cards.issue();
    const act = async (kind: string) => {
      const line = `cards ${kind} ${id} --reason fraud --json`;
      const { code, out } = await bursar(line, service.env);
      return [code, JSON.parse(out)];
    };
    expect(await act('lock')).toEqual([0, { id, done: true, status: 'locked' }]);
    expect(await act('lock')).toEqual([1, { id, done: false, status: 'locked' }]);
    expect(await act('unlock')).toMatchObject([0, { id, done: true }]);
    await cards.waitFor(id, 'active');
    const signedIn = { reason: 'fraud', actor: { operator: expect.stringMatching(/^opr_/) } };
    const [free, locked] = [{ locked_by_operator: false }, { locked_by_operator: true }];
    expect(await service.deps.audit.latest({ target: id }, 10)).toMatchObject([
      { ...signedIn, action: 'cards.unlock', before: locked, after: free },
      { ...signedIn, action: 'cards.lock', before: locked, after: locked },
      { ...signedIn, action: 'cards.lock', before: free, after: locked },
    ]);
  });

  test("leaves the tenant's lock when it is lifted", async () => {
    const { id } = await cards.issue();
    await ended(id, 'lock');
    const { setOperatorLock } = service.deps.cardStates;
    expect(await setOperatorLock(await stored(id), by)).toBe(true);
    expect(await setOperatorLock(await stored(id), null)).toBe(true);
    expect(await cards.get(id)).toMatchObject({ status: 'locked', locked_by: ['tenant'] });
    await ended(id, 'unlock');
    expect((await cards.get(id)).status).toBe('active');
  });
});

test('the books and the journal of the issuer agree', async () => {
  await service.allEnded();
  expect(await service.problems()).toEqual([]);
});

describe('an issuer that keeps no order', () => {
  let own: Service;
  beforeAll(async () => {
    own = await startService({
      oneProcess: true,
      env: { SANDBOX_BANK_CARD_STATE_SEQUENCE: 'ours' },
    });
  });
  afterAll(() => own.close());

  test('and executes an old lock late has the card as it was ordered last', async () => {
    const client = cardClient(await own.tenant());
    const { id } = await client.issue();
    // The issuer does not answer this lock, and executes it ten seconds later.
    await client.act(id, 'lock', { request_id: `${process.pid}-006` });
    await eventually('the lock is submitted', async () => {
      const card = await own.deps.cards.store.find(id);
      const pending = card?.state_control.pending_operation_id ?? '';
      const operation = card && (await own.deps.cards.operations.get(card.tenant_id, pending));
      return (operation?.submissions ?? 0) > 0 ? true : undefined;
    });
    const { body } = await client.act(id, 'unlock');
    await client.waitForOperation(id, body.data.id, 'completed');
    await client.waitFor(id, 'active');
    await eventually('the late lock is undone', async () => {
      const changes = await changesOf(own, id);
      return changes.includes('card_locked') && changes.at(-1) === 'card_opened' ? true : undefined;
    });
    expect((await client.get(id)).status).toBe('active');
    await own.allEnded();
    expect(await own.problems()).toEqual([]);
  });
});
