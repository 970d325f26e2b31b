import { newProviderEvent } from '../../../src/core/provider-events/event.js';
import type { Transfer } from '../../../src/capabilities/transfers/record.js';
import { timelineEntry } from '../../../src/core/instructions/instruction.js';
import { examineCallbacks } from '../../../src/ops/doctor/callbacks.js';
import { firstIdAt } from '../../../src/shared/ids.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { pendingTransfer } from '../../support/transfers.js';

const NOW = new Date('2026-11-21T09:00:00.000Z');
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);
const RETENTION = { retentionMs: 90 * 24 * 3_600_000, now: NOW };
const DAY = 24 * 60;

let database: TestDatabase;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

const examine = () => examineCallbacks(database.db, RETENTION);

async function receive(minutesAgo: number, provider = 'paystack') {
  const at = ago(minutesAgo);
  const draft = { provider, port: 'transfers', event: 'transfer.success', reading: 'irrelevant' };
  const event = newProviderEvent(
    { ...draft, facts: [], message: {}, occurred_at: null, dedupeKey: `${minutesAgo}` } as never,
    at,
    firstIdAt('providerEvent', at),
  );
  await database.db.collection<{ _id: string }>('provider_events').insertOne(event);
}

/** A transfer at Paystack, made and completed this many minutes ago. */
async function complete(madeAgo: number, completedAgo: number, changes: Partial<Transfer> = {}) {
  const transfer = pendingTransfer({
    _id: firstIdAt('transfer', ago(madeAgo)),
    provider: 'paystack',
    status: 'completed',
    next_check_at: null,
    completed_at: ago(completedAgo),
    ...changes,
  });
  await database.db.collection<Transfer>('transfers').insertOne(transfer);
}

test('a transfer that has completed without a message shows that messages have stopped, and how long ago', async () => {
  await receive(5 * 60);
  await complete(3 * 60, 2 * 60);
  expect(await examine()).toMatchObject({
    ok: false,
    detail: 'the last one came 5 h ago, and payments have completed without one since',
    hint: expect.stringContaining('/api/v1/webhooks/payments/paystack') as unknown,
  });
});

test('a charge shows it too', async () => {
  await receive(5 * 60);
  await database.db.collection<{ _id: string; [field: string]: unknown }>('charges').insertOne(
    {
      _id: firstIdAt('charge', ago(3 * 60)),
      tenant_id: 'ten_a',
      reference: 'INV-118',
      provider: 'paystack',
      status: 'completed',
      completed_at: ago(2 * 60),
      timeline: [],
    },
    { bypassDocumentValidation: true },
  );
  expect(await examine()).toMatchObject({ ok: false });
});

test.each([
  ['nothing has completed since', async () => complete(6 * DAY, 5 * DAY)],
  [
    'the last message was that of the last transfer',
    async () => complete(2 * DAY + 1, 2 * DAY - 1),
  ],
  ['the message of a transfer may still come', async () => complete(30, 20)],
  ['it is at another provider', async () => complete(180, 120, { provider: 'sandbox-bank' })],
  ['it is open', async () => complete(180, 120, { status: 'processing', completed_at: null })],
  [
    'an operator has completed it',
    async () => complete(180, 120, { timeline: [timelineEntry(NOW, 'operator', 'ops')] }),
  ],
])('a silence is no failure: %s', async (_why, happen) => {
  await receive(2 * DAY);
  await receive(1, 'sandbox-bank');
  await happen();
  expect(await examine()).toEqual({ ok: true, detail: 'the last one came 2 days ago', hint: null });
});

test('a transfer made within an hour of the last message shows nothing', async () => {
  await receive(180);
  await complete(150, 120);
  expect(await examine()).toMatchObject({ ok: true });
});

test('without any message the first completed transfer shows it at once, unless old messages were removed', async () => {
  expect(await examine()).toMatchObject({ ok: true });
  await complete(91 * DAY, 91 * DAY - 1);
  expect(await examine()).toMatchObject({ ok: true });
  await complete(2, 1);
  expect(await examine()).toMatchObject({ ok: false, detail: 'none came so far' });
});
