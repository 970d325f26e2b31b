import { acceptTransfer } from '../../../src/capabilities/transfers/mutations.js';
import { randomUUID } from 'node:crypto';
import type { Document } from 'mongodb';
import { transferEventHandler } from '../../../src/capabilities/transfers/provider-events.js';
import { createProviderEventApplication } from '../../../src/core/provider-events/apply.js';
import {
  newProviderEventReplay,
  type ProviderEvent,
} from '../../../src/core/provider-events/event.js';
import { createProviderEventFacts } from '../../../src/core/provider-events/facts.js';
import { maskMessage } from '../../../src/core/provider-events/message.js';
import type { ReceivedMessage } from '../../../src/core/provider-events/receive.js';
import { MAX_OPEN_WORKFLOWS } from '../../../src/core/provider-events/store.js';
import { TRANSFER_SAFE_FIELDS } from '../../../src/core/providers/sandbox-bank/transfer-events.js';
import { createSecretBox } from '../../../src/core/webhooks/secrets.js';
import { newId } from '../../../src/shared/ids.js';
import { callbackSender } from '../../support/callbacks.js';
import { allAtOnce, eachAtOnce } from '../../support/at-once.js';
import { bursar } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';
import { acceptTransferMutation, pendingTransfer } from '../../support/transfers.js';
import { inTries } from '../../support/tries.js';

const PROVIDER = 'sandbox-bank';

let service: Service;
let tenant: TestTenant;
let bank: ReturnType<typeof callbackSender>;

beforeAll(async () => {
  service = await startService({
    oneProcess: true,
    env: { BURSAR_PROVIDER_EVENT_RETRY_SECONDS: '0.3,6' },
  });
  tenant = await service.tenant();
  bank = callbackSender(service);
});
afterAll(() => service?.close());

const stored = () => service.deps.database.db.collection<ProviderEvent>('provider_events');
const event = (filter: object) => stored().findOne(filter);
const becomes = (filter: object, status: ProviderEvent['status']) =>
  eventually(`the event is ${status}`, async () => {
    const found = await event(filter);
    return found?.status === status ? found : undefined;
  });
const workflowOf = ({ _id }: Pick<ProviderEvent, '_id'>) =>
  service.deps.temporal.client.workflow.getHandle(`provider-event/${_id}`);
const run = async (line: string) => {
  const { code, out, error } = await bursar(`${line} --json`, service.env);
  return code === 0 ? JSON.parse(out) : { code, error };
};

/** Replays an event by the command line and waits for the end of the replay. */
async function replay(id: string) {
  const { replay: made } = await run(`provider-events replay ${id}`);
  return eventually('the replay has ended', async () => {
    const found = await service.deps.providerEvents.replays.find(made);
    return found && found.status !== 'pending' ? found : undefined;
  });
}

/** A message as an adapter leaves it that does not know the type yet. */
function unreadable(reference: string, name: string, changes: object = {}): ReceivedMessage {
  const body = bank.about(reference, name, changes);
  const reading = { kind: 'unreadable', dedupeKey: randomUUID(), name } as const;
  const message = maskMessage(Buffer.from(body), TRANSFER_SAFE_FIELDS);
  return { port: 'transfers', reading, message };
}

describe('the first attempt', () => {
  test('is made by the process that took the message; no workflow is started for it', async () => {
    const paid = async () => {
      const id = await tenant.send('001');
      await tenant.waitFor(id, 'completed');
      return becomes({ 'facts.reference': id }, 'processed');
    };
    // On a busy machine a poll may know the payment first, or the first attempt may take too long.
    const done = await inTries(3, paid, (one) => one.result === 'applied' && !one.attempt_count);
    expect(done).toMatchObject({
      result: 'applied',
      event: 'transfer.paid',
      attempt_count: 0,
      workflow_slot: null,
      next_check_at: null,
    });
    await expect(workflowOf(done).describe()).rejects.toThrow('not found');
  });

  test('that a process never made is left to the event’s workflow', async () => {
    const id = await tenant.send('006');
    await tenant.waitFor(id, 'processing');
    const state = { kind: 'rejected', code: 'account_closed' } as const;
    const message = { dedupeKey: randomUUID(), reference: id, name: 'transfer.refused', state };
    const reading = { kind: 'event', event: { ...message, occurredAt: null } } as const;
    // Stored, and the process dies before `after`.
    await service.deps.providerEvents.receive(PROVIDER, {
      port: 'transfers',
      reading,
      message: null,
    });
    await tenant.waitFor(id, 'failed');
    const done = await becomes({ 'facts.reference': id }, 'processed');
    expect((await workflowOf(done).describe()).status.name).toMatch(/RUNNING|COMPLETED/);
    await workflowOf(done).result();
  });
});

describe('a message that arrives before its record', () => {
  allAtOnce((test) => {
    test('is applied once the record is there', async () => {
      const id = newId('transfer');
      await bank.post(
        bank.about(id, 'transfer.paid', { amount_minor: 250_000, session_id: 's-1' }),
      );
      const waiting = await eventually('one attempt was made', async () => {
        const found = await event({ 'facts.reference': id });
        return found && found.attempt_count > 0 ? found : undefined;
      });
      expect(waiting).toMatchObject({ result: 'unknown_reference', attention: null });
      const transfer = pendingTransfer({
        _id: id,
        tenant_id: tenant.id,
        status: 'processing',
        submissions: 1,
        next_check_at: null,
      });
      await service.deps.groupCommit.commit(acceptTransfer, acceptTransferMutation(transfer));
      expect(await becomes({ 'facts.reference': id }, 'processed')).toMatchObject({
        result: 'applied',
        attention: null,
      });
      expect((await tenant.get(id)).status).toBe('completed');
    });

    test('calls an operator after the last attempt if money has moved, and is ignored otherwise', async () => {
      const [paid, refused] = [newId('transfer'), newId('transfer')];
      await bank.post(bank.about(paid, 'transfer.paid'));
      await bank.post(bank.about(refused, 'transfer.refused', { code: 'account_closed' }));
      expect(await becomes({ 'facts.reference': paid }, 'failed')).toMatchObject({
        attempt_count: 3,
        result: 'unknown_reference',
        attention: { reason: 'unknown_reference' },
      });
      expect(await becomes({ 'facts.reference': refused }, 'ignored')).toMatchObject({
        result: 'unknown_reference',
        attention: null,
      });
    });
  });
});

describe('a message that our own store refuses to apply', () => {
  test('calls an operator after the last attempt, and a replay applies it once', async () => {
    const { db } = service.deps.database;
    const id = await tenant.send('006');
    await tenant.waitFor(id, 'processing');
    const [transfers] = await db.listCollections({ name: 'transfers' }).toArray();
    const validator = (transfers as { options: Document }).options['validator'] as Document;
    const others = { $or: [{ _id: { $ne: id } }, { status: 'processing' }] };
    await db.command({ collMod: 'transfers', validator: { $and: [validator, others] } });
    await bank.post(bank.about(id, 'transfer.refused', { code: 'account_closed' }));
    const stored = await becomes({ 'facts.reference': id }, 'failed');
    expect(stored).toMatchObject({
      attempt_count: 3,
      attention: { reason: 'it could not be applied: the log of the worker says why' },
      next_check_at: null,
    });
    await db.command({ collMod: 'transfers', validator });
    expect((await tenant.get(id)).status).toBe('processing');

    const { providerEvents } = service.deps;
    await providerEvents.replay(await providerEvents.withOwner(stored, true), null);
    await tenant.waitFor(id, 'failed');
    expect(await becomes({ 'facts.reference': id }, 'processed')).toMatchObject({
      result: 'applied',
      attention: null,
    });
    const { timeline } = await tenant.stored(id);
    expect(timeline.filter(({ type }) => type === 'released')).toHaveLength(1);
  });
});

describe('a message of an irrelevant type', () => {
  test('is stored once and ignored', async () => {
    const body = JSON.stringify({
      id: randomUUID(),
      event: 'bank.notice',
      occurred_at: new Date().toISOString(),
      data: { text: 'The bank is closed on Sunday.' },
    });
    expect(await bank.post(body)).toMatchObject({ status: 200 });
    expect(await bank.post(body)).toMatchObject({ status: 200 });
    const [found, ...more] = await stored().find({ event: 'bank.notice' }).toArray();
    expect(more).toEqual([]);
    expect(found).toMatchObject({ status: 'ignored', attention: null, next_check_at: null });
    expect(JSON.stringify(found?.message)).not.toContain('Sunday');
  });
});

describe('an unreadable message', () => {
  test('is stored for an operator, and a replay applies it once its adapter can read it', async () => {
    const id = await tenant.send();
    const { session_id } = await tenant.waitFor(id, 'completed');
    const before = await tenant.balance();
    const { receive } = service.deps.providerEvents;
    const given = unreadable(id, 'transfer.reversed', { session_id });
    expect(await receive(PROVIDER, given)).toMatchObject({ stored: true });
    expect(await receive(PROVIDER, given)).toMatchObject({ stored: false });
    const failed = await becomes({ reading: 'unreadable', event: 'transfer.reversed' }, 'failed');
    const listed = await run('provider-events list --attention --type transfer.reversed');
    expect(listed).toMatchObject([{ id: failed._id, status: 'failed', provider: PROVIDER }]);
    expect(await run(`provider-events show ${failed._id}`)).toMatchObject({
      reading: 'unreadable',
      message: { data: { reference: id } },
      attention: { reason: expect.stringContaining('cannot read') as string },
    });
    await eventually('its workflow waits', async () =>
      (await event({ _id: failed._id }))?.next_check_at === null ? true : undefined,
    );
    const { typedSearchAttributes, status } = await workflowOf(failed).describe();
    expect([status.name, JSON.stringify(typedSearchAttributes)]).toEqual([
      'RUNNING',
      expect.stringContaining('"NeedsAttention"'),
    ]);

    const first = await replay(failed._id);
    expect(first).toMatchObject({ status: 'completed', result: 'applied' });
    expect(await replay(failed._id)).toMatchObject({ status: 'completed' });
    await workflowOf(failed).result();
    // Its activity again, as after the death of a worker that had not answered yet: the workflow may still wait.
    const { application } = service.deps.providerEvents;
    expect(await application.replayProviderEvent({ id: first._id })).toEqual({
      waitingEventId: failed._id,
    });
    expect(await event({ _id: failed._id })).toMatchObject({
      status: 'processed',
      attention: null,
      reading: 'event',
      workflow_slot: null,
    });
    expect(await tenant.get(id)).toMatchObject({ status: 'failed', failure: { code: 'reversed' } });
    expect((await tenant.balance()).available).toBeGreaterThan(before.available);
  });

  test('stays failed when it is replayed while its adapter still cannot read it', async () => {
    const id = newId('transfer');
    await bank.post(bank.about(id, 'transfer.celebrated'));
    const failed = await becomes({ event: 'transfer.celebrated' }, 'failed');
    expect(failed.message).toMatchObject({ data: { reference: id, amount_minor: 150_000 } });
    expect(await replay(failed._id)).toMatchObject({
      status: 'failed',
      failure: { code: 'not_applied' },
    });
    expect(await event({ _id: failed._id })).toMatchObject({
      status: 'failed',
      attention: { since: expect.any(Date) as Date },
    });
  });
});

describe('the reversal of a completed transfer, in a message that the adapter cannot read', () => {
  /** A later adapter: it takes ids with slashes, needs no amount, and knows the new name. */
  function readByLaterAdapter(stored: unknown) {
    const { id, event: name, data } = stored as LaterMessage;
    const isId = /^[0-9A-Za-z/-]{1,64}$/.test(data.session_id);
    if (!isId) return { kind: 'unreadable', dedupeKey: id, name } as const;
    const { amount_minor: amount, session_id: sessionId } = data;
    const amountMinor = amount === undefined ? null : BigInt(amount);
    const state = { kind: 'reversed', amountMinor, sessionId } as const;
    const about = { dedupeKey: id, reference: data.reference, name: 'transfer.reversed', state };
    return { kind: 'event', event: { ...about, occurredAt: null } } as const;
  }
  type LaterMessage = {
    id: string;
    event: string;
    data: { reference: string; session_id: string; amount_minor?: number };
  };

  /** Carries out a replay of an event as a worker with the later adapter does. */
  async function replayLater(of: ProviderEvent): Promise<unknown> {
    const { database, transfers, sealing, config, log, providerEvents } = service.deps;
    const { store: events, replays } = providerEvents;
    const secretBox = createSecretBox(sealing, config.keyPeppers);
    const handlers = [transferEventHandler({ transfers })];
    const reader = { readStored: readByLaterAdapter };
    const { replayProviderEvent } = createProviderEventApplication({
      events,
      replays,
      facts: createProviderEventFacts({ handlers, secretBox, events }),
      providers: { messageReader: () => reader } as never,
      scheduleMs: [],
      stallTimeoutMs: 1_000,
      log,
    });
    // Without a check, so that no worker of the service carries it out.
    const made = { ...newProviderEventReplay(of, new Date()), next_check_at: null };
    await database.db.collection<typeof made>('provider_event_replays').insertOne(made);
    await replayProviderEvent({ id: made._id });
    return replays.find(made._id);
  }

  eachAtOnce<[string, string, object]>([
    ['has a slash in its session id', 'transfer.reversed', { session_id: '090405/20261121-77' }],
    ['has no amount', 'transfer.reversed', { amount_minor: undefined }],
    ['has a new name', 'transfer.returned', {}],
  ])(
    'because it %s, is stored once, and booked once by replays when the adapter has learned it',
    async (_why, name, changes) => {
      const own = await service.tenant();
      const id = await own.send();
      const { session_id } = await own.waitFor(id, 'completed');
      const before = await own.balance();
      const body = bank.about(id, name, { session_id, ...changes });
      for (let i = 0; i < 2; i += 1) expect(await bank.post(body)).toMatchObject({ status: 200 });
      const about = { 'message.data.reference': id, reading: 'unreadable' } as object;
      const failed = await becomes(about, 'failed');
      expect(await stored().countDocuments(about)).toBe(1);
      expect(await replay(failed._id)).toMatchObject({ status: 'failed' });

      expect(await replayLater(failed)).toMatchObject({ status: 'completed', result: 'applied' });
      expect(await replayLater(failed)).toMatchObject({ status: 'completed' });
      expect(await own.get(id)).toMatchObject({
        status: 'failed',
        failure: { code: 'reversed' },
      });
      const { timeline } = await own.stored(id);
      expect(timeline.filter(({ type }) => type === 'reversed')).toHaveLength(1);
      expect((await own.balance()).available).toBeGreaterThan(before.available);
    },
  );
});

describe('many events that need an operator', () => {
  test('open no more workflows than their provider and type may have; the others wait in the list', async () => {
    const type = 'transfer.embroidered';
    const more = 25;
    const { receive, newEvent, store } = service.deps.providerEvents;
    const all = Array.from({ length: MAX_OPEN_WORKFLOWS + more }, () =>
      receive(PROVIDER, unreadable(newId('transfer'), type)),
    );
    await Promise.all(all);
    await eventually('the dispatcher has seen all', async () =>
      (await stored().countDocuments({ event: type, next_check_at: { $type: 'date' } })) === 0
        ? true
        : undefined,
    );
    const open = { event: type, workflow_slot: { $ne: null } };
    expect(await stored().countDocuments(open)).toBe(MAX_OPEN_WORKFLOWS);
    const waiting = { event: type, 'attention.since': { $type: 'date' } } as object;
    expect(await stored().countDocuments(waiting)).toBe(MAX_OPEN_WORKFLOWS + more);
    const { client } = service.deps.temporal;
    const inList = await event({ event: type, workflow_slot: null });
    await expect(workflowOf(inList as ProviderEvent).describe()).rejects.toThrow('not found');
    const started = await stored().find(open).limit(5).toArray();
    for (const each of started) {
      const { status } = await client.workflow.getHandle(`provider-event/${each._id}`).describe();
      expect(status.name).toBe('RUNNING');
    }

    // A readable event of the type has no place for a workflow, and is processed nevertheless.
    const reference = newId('transfer');
    const said = { dedupeKey: randomUUID(), reference, name: type, occurredAt: null };
    const state = { kind: 'succeeded', amountMinor: 1n, sessionId: null } as const;
    const reading = { kind: 'event', event: { ...said, state } } as const;
    await store.insert(newEvent(PROVIDER, { port: 'transfers', reading, message: null }));
    expect(await becomes({ 'facts.reference': reference }, 'failed')).toMatchObject({
      attempt_count: 3,
      attention: { reason: 'unknown_reference' },
      workflow_slot: null,
    });

    const replays = await run(`provider-events replay --type ${type} --provider ${PROVIDER}`);
    expect(replays).toHaveLength(MAX_OPEN_WORKFLOWS + more + 1);
  });
});

test('a saved method is stored sealed', () => {
  const method = {
    code: 'auth_as_good_as_a_secret',
    type: 'card',
    brand: 'verve',
    last4: '4242',
    expiryMonth: 9,
    expiryYear: 2031,
    bankCode: null,
    bankName: null,
    reusable: true,
    email: null,
  } as const;
  const paid = {
    kind: 'succeeded',
    amountMinor: 5n,
    currency: 'NGN',
    surchargeMinor: 0n,
    feeMinor: null,
  } as const;
  const made = service.deps.providerEvents.newEvent(PROVIDER, {
    port: 'payments',
    reading: {
      kind: 'event',
      event: {
        dedupeKey: 'evt_1',
        reference: `${newId('charge')}-1`,
        name: 'charge.paid',
        about: { subject: 'charge', state: { ...paid, method } },
        occurredAt: null,
      },
    },
    message: null,
  });
  const text = JSON.stringify(made, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
  expect(text).not.toContain(method.code);
  expect(made.facts[0]?.sealed).toEqual(expect.any(String));
});
