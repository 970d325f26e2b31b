import { applyTransferFact } from '../../../src/capabilities/transfers/mutations.js';
import { createGroupCommit } from '../../../src/core/commit/group-commit.js';
import { eventually } from '../../support/eventually.js';
import { startListening, type Listening } from '../../support/listening.js';

let all: Listening;
beforeAll(async () => {
  all = await startListening();
});
afterAll(async () => {
  await all?.close();
});

describe('a process that writes an event and dies', () => {
  test('an event whose process dies before the delivery is delivered by another process', async () => {
    const at = await all.receiver();
    const { tenant } = await all.tenant(at);
    const id = await tenant.send('006');
    await all.waitForEvents(at, id, 1);
    // The commit of a process that dies afterwards: it writes the event and never delivers it.
    const { outbox } = all.webhooks;
    const dying = createGroupCommit(all.service.deps.database, {
      ...outbox,
      send: () => undefined,
    });
    const fact = { kind: 'succeeded', amountMinor: null, sessionId: 's-1' } as const;
    const origin = { via: 'webhook', actor: 'test', providerRequestId: null, note: null } as const;
    await dying.commit(applyTransferFact, {
      tenantId: tenant.id,
      id,
      fact: { ...fact, ...origin },
    });
    const events = await all.waitForEvents(at, id, 2);
    expect(events.map(({ event }) => event)).toEqual(['transfer.processing', 'transfer.completed']);
    await all.inState(tenant, 'delivered', 2);
    await all.service.bank.setTransferOutcome(id, 'paid');
  });

  test('every event is delivered although its process is killed at a random moment', async () => {
    const at = await all.receiver();
    const { tenant } = await all.tenant(at);
    const sent: Promise<string>[] = [];
    for (let i = 0; i < 20; i += 1) sent.push(tenant.send());
    const ids = await Promise.all(sent);
    await eventually('some events arrive', () => (at.received.length > 5 ? true : undefined));
    await all.service.worker.kill();
    await all.service.worker.start();
    for (const id of ids) {
      const events = await eventually(`both events of ${id}`, () => {
        const found = new Map(at.events(id).map((one) => [one.sequence, one.event]));
        return found.size === 2 ? found : undefined;
      });
      expect([...events].toSorted(([a], [b]) => a - b)).toEqual([
        [1, 'transfer.processing'],
        [2, 'transfer.completed'],
      ]);
    }
    expect(await all.service.problems()).toEqual([]);
  });
});
