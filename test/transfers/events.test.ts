import { acceptTransfer } from '../../src/capabilities/transfers/mutations.js';
import { randomUUID } from 'node:crypto';
import { createGroupCommit } from '../../src/core/commit/group-commit.js';
import { creditWallet } from '../../src/capabilities/wallets/create.js';
import type { TransferFact } from '../../src/capabilities/transfers/transitions.js';
import { createTransfers, type Transfers } from '../../src/capabilities/transfers/store.js';
import type { EventDraft } from '../../src/core/webhooks/event.js';
import { noOutbox, type Outbox } from '../../src/core/webhooks/outbox.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { acceptTransferMutation, byProvider, pendingTransfer } from '../support/transfers.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** A store with or without webhook subscribers, and the events that it emits. */
function openStore(subscribed: boolean) {
  const emitted: EventDraft[] = [];
  const outbox: Outbox = {
    ...noOutbox,
    hasSubscribers: async () => subscribed,
    async address(drafts) {
      if (subscribed) emitted.push(...drafts);
      return [];
    },
  };
  const transfers = createTransfers(database, createGroupCommit(database, outbox), 1_000);
  const names = () => emitted.map(({ name, sequence }) => [name, sequence]);
  return { transfers, emitted, names };
}

async function accept(transfers: Transfers) {
  const transfer = pendingTransfer({ tenant_id: `ten_${randomUUID()}`, created_at: new Date() });
  const { tenant_id: tenantId, _id: id, total_minor: amountMinor } = transfer;
  const groupCommit = createGroupCommit(database);
  await creditWallet(groupCommit, { tenantId, amountMinor, reference: 'start' });
  await groupCommit.commit(acceptTransfer, acceptTransferMutation(transfer));
  const apply = (...facts: TransferFact[]) =>
    facts.reduce<Promise<unknown>>(
      (before, fact) => before.then(() => transfers.applyFact(tenantId, id, fact)),
      Promise.resolve(),
    );
  return { tenantId, id, apply };
}

const paid: TransferFact = { ...byProvider, kind: 'succeeded', amountMinor: null, sessionId: 's' };
const reversed: TransferFact = { ...paid, kind: 'reversed' };
const rejected: TransferFact = { ...byProvider, kind: 'rejected', code: 'account_closed' };
const confirmed: TransferFact = { ...byProvider, kind: 'operator_confirmed' };

describe('the submit permit of a transfer', () => {
  test.each([
    { subscribed: true, batched: false },
    { subscribed: true, batched: true },
    { subscribed: false, batched: false },
    { subscribed: false, batched: true },
  ])(
    'is granted once and writes the same record, alone and with others, with and without webhook subscribers: %j',
    async ({ subscribed, batched }) => {
      const { transfers, emitted } = openStore(subscribed);
      const { tenantId, id } = await accept(transfers);
      const requests = await Promise.all(
        Array.from({ length: 8 }, () =>
          transfers.acquireSubmitPermit({ tenantId, id, submissions: 0, batched }),
        ),
      );
      expect(requests.filter((granted) => granted !== null)).toHaveLength(1);
      expect(
        await transfers.acquireSubmitPermit({ tenantId: 'ten_other', id, submissions: 1 }),
      ).toBeNull();
      expect(await transfers.get(tenantId, id)).toMatchObject({
        status: 'processing',
        submissions: 1,
        event_sequence: 1,
        version: 2,
        timeline: [{ type: 'accepted' }, { type: 'submitted', actor: 'bursar', detail: null }],
      });
      expect(emitted.map(({ name }) => name)).toEqual(subscribed ? ['transfer.processing'] : []);
      expect(await transfers.acquireSubmitPermit({ tenantId, id, submissions: 1 })).toMatchObject({
        submissions: 2,
        event_sequence: 1,
      });
      expect(emitted).toHaveLength(subscribed ? 1 : 0);
    },
  );
});

describe('the webhook events of a transfer', () => {
  test('each change of status emits one event, numbered from one, with the transfer at that moment', async () => {
    const { transfers, emitted, names } = openStore(true);
    const { tenantId, id, apply } = await accept(transfers);
    await transfers.acquireSubmitPermit({ tenantId, id, submissions: 0 });
    await apply(paid, paid, reversed, reversed, paid);
    expect(names()).toEqual([
      ['transfer.processing', 1],
      ['transfer.completed', 2],
      ['transfer.reversed', 3],
    ]);
    expect(emitted.map(({ data }) => data)).toMatchObject([
      { id, status: 'processing', completed_at: null },
      { id, status: 'completed', reversed_at: null },
      { id, status: 'failed', failure: { code: 'reversed' }, reversed_at: expect.any(String) },
    ]);
  });

  test('the sequence counts events that had no subscriber', async () => {
    const unsubscribed = openStore(false);
    const { tenantId, id } = await accept(unsubscribed.transfers);
    await unsubscribed.transfers.acquireSubmitPermit({ tenantId, id, submissions: 0 });
    const { transfers, names } = openStore(true);
    await transfers.applyFact(tenantId, id, rejected);
    expect(names()).toEqual([['transfer.failed', 2]]);
  });

  test('a change for operators alone emits no event, and the next change of status emits one', async () => {
    const { transfers, names } = openStore(true);
    const { apply } = await accept(transfers);
    // The payment is proven after the failure; the suspense debit then completes the transfer.
    await apply(rejected, paid);
    expect(names()).toEqual([['transfer.failed', 1]]);
    await apply(confirmed);
    expect(names()).toEqual([
      ['transfer.failed', 1],
      ['transfer.completed', 2],
    ]);
  });

  test('a reversal of a processing transfer emits one event, without a completion', async () => {
    const { transfers, names } = openStore(true);
    const { tenantId, id, apply } = await accept(transfers);
    await transfers.acquireSubmitPermit({ tenantId, id, submissions: 0 });
    await apply(reversed, paid);
    expect(names()).toEqual([
      ['transfer.processing', 1],
      ['transfer.reversed', 2],
    ]);
  });
});
