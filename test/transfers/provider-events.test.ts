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

/** A store whose tenants listen or do not, and what they would be told. */
function openStore(listens: boolean) {
  const told: EventDraft[] = [];
  const outbox: Outbox = {
    ...noOutbox,
    hasSubscribers: async () => listens,
    async address(drafts) {
      told.push(...drafts);
      return [];
    },
  };
  const transfers = createTransfers(database, createGroupCommit(database, outbox), 1_000);
  const names = () => told.map(({ name, sequence }) => [name, sequence]);
  return { transfers, told, names };
}

async function accept(transfers: Transfers) {
  const transfer = pendingTransfer({ tenant_id: `ten_${randomUUID()}`, created_at: new Date() });
  const { tenant_id: tenantId, _id: id, total_minor: amountMinor } = transfer;
  await creditWallet(createGroupCommit(database), { tenantId, amountMinor, reference: 'start' });
  await transfers.accept(acceptTransferMutation(transfer));
  const apply = (...facts: TransferFact[]) =>
    facts.reduce<Promise<unknown>>(
      (before, fact) => before.then(() => transfers.applyFact(tenantId, id, fact)),
      Promise.resolve(),
    );
  return { tenantId, id, apply };
}

const paid: TransferFact = { ...byProvider, kind: 'succeeded', amountMinor: null, sessionId: 's' };
const reversed: TransferFact = { ...paid, kind: 'reversed' };
const refused: TransferFact = { ...byProvider, kind: 'rejected', code: 'account_closed' };
const confirmed: TransferFact = { ...byProvider, kind: 'operator_confirmed' };

describe('the permission to send', () => {
  test.each([true, false])(
    'is given once, and makes the same record (listened to: %s)',
    async (listens) => {
      const { transfers, told } = openStore(listens);
      const { tenantId, id } = await accept(transfers);
      const asked = await Promise.all(
        Array.from({ length: 8 }, () => transfers.acquireSubmitPermit(tenantId, id, 0, false)),
      );
      expect(asked.filter((one) => one !== null)).toHaveLength(1);
      expect(await transfers.acquireSubmitPermit('ten_other', id, 1, false)).toBeNull();
      expect(await transfers.get(tenantId, id)).toMatchObject({
        status: 'processing',
        submissions: 1,
        event_sequence: 1,
        version: 2,
        timeline: [{ type: 'accepted' }, { type: 'submitted', actor: 'bursar', detail: null }],
      });
      expect(told.map(({ name }) => name)).toEqual(listens ? ['transfer.processing'] : []);
      expect(await transfers.acquireSubmitPermit(tenantId, id, 1, false)).toMatchObject({
        submissions: 2,
        event_sequence: 1,
      });
      expect(told).toHaveLength(listens ? 1 : 0);
    },
  );
});

describe('the events of a transfer', () => {
  test('are its changes of state, each once, numbered from one, with the transfer as it was then', async () => {
    const { transfers, told, names } = openStore(true);
    const { tenantId, id, apply } = await accept(transfers);
    await transfers.acquireSubmitPermit(tenantId, id, 0, false);
    await apply(paid, paid, reversed, reversed, paid);
    expect(names()).toEqual([
      ['transfer.processing', 1],
      ['transfer.completed', 2],
      ['transfer.reversed', 3],
    ]);
    expect(told.map(({ data }) => data)).toMatchObject([
      { id, status: 'processing', completed_at: null },
      { id, status: 'completed', reversed_at: null },
      { id, status: 'failed', failure: { code: 'reversed' }, reversed_at: expect.any(String) },
    ]);
  });

  test('count on where nobody listened before', async () => {
    const quiet = openStore(false);
    const { tenantId, id } = await accept(quiet.transfers);
    await quiet.transfers.acquireSubmitPermit(tenantId, id, 0, false);
    const { transfers, names } = openStore(true);
    await transfers.applyFact(tenantId, id, refused);
    expect(names()).toEqual([['transfer.failed', 2]]);
  });

  test('say nothing of what concerns operators alone, and speak again when the state changes', async () => {
    const { transfers, names } = openStore(true);
    const { apply } = await accept(transfers);
    // Failed, found paid after all, and paid by the wallet in the end.
    await apply(refused, paid);
    expect(names()).toEqual([['transfer.failed', 1]]);
    await apply(confirmed);
    expect(names()).toEqual([
      ['transfer.failed', 1],
      ['transfer.completed', 2],
    ]);
  });

  test('leave out what was never seen: reversed while processing is one event', async () => {
    const { transfers, names } = openStore(true);
    const { tenantId, id, apply } = await accept(transfers);
    await transfers.acquireSubmitPermit(tenantId, id, 0, false);
    await apply(reversed, paid);
    expect(names()).toEqual([
      ['transfer.processing', 1],
      ['transfer.reversed', 2],
    ]);
  });
});
