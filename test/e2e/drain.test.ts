import { startService, type Service } from '../support/service.js';
import { eventually } from '../support/eventually.js';
import { order, type Reply, type TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({ apis: 2, workers: 2, bank: { deduplicate: false } });
  tenant = await service.tenant({ balanceMinor: 1_000_000_000 });
});

afterAll(async () => {
  await service?.close();
});

test('SIGTERM on an API under load: what it accepted is answered, and it ends with 0', async () => {
  const [, draining] = service.apis;
  if (!draining) throw new Error('there are two');
  const asked: { reference: string; reply: Reply | null }[] = [];
  let refused = 0;

  const client = async () => {
    while (refused < 3) {
      const body = order();
      const reply = await tenant
        .at(draining.url)
        .transfer(body)
        .catch(() => null);
      asked.push({ reference: body.reference, reply });
      // Nobody listens any more.
      if (!reply) refused += 1;
    }
  };
  const load = Promise.all(Array.from({ length: 12 }, client));
  await eventually('it is under load', () => (asked.length >= 60 ? true : undefined));
  const exit = await draining.stop();
  await load;

  expect(exit).toEqual({ code: 0, signal: null });
  const answered = asked.filter(({ reply }) => reply !== null);
  expect(new Set(answered.map(({ reply }) => reply?.status))).toEqual(new Set([201]));
  const made = await service.deps.database.db
    .collection<{ reference: string }>('transfers')
    .find({ tenant: tenant.id })
    .toArray();
  expect(made.map(({ reference }) => reference).toSorted()).toEqual(
    answered.map(({ reference }) => reference).toSorted(),
  );
});

test('SIGTERM on a worker under load: it ends with 0, and every transfer is paid once', async () => {
  await service.bank.faults([{ call: 'submit', kind: 'slow', probability: 0.5, ms: 400 }]);
  const [stopping] = service.workers;
  const ids = await Promise.all(Array.from({ length: 30 }, () => tenant.send()));
  await eventually('some are paid and others are not', async () => {
    const paid = new Set((await service.bank.journal()).map(({ reference }) => reference));
    return ids.some((id) => paid.has(id)) ? true : undefined;
  });
  expect(await stopping?.stop()).toEqual({ code: 0, signal: null });
  for (const id of ids) await tenant.waitFor(id, 'completed');
});

test('afterwards the books balance and agree with the bank', async () => {
  await service.settled();
  expect(await service.problems()).toEqual([]);
});
