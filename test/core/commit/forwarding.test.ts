import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import { Registry } from 'prom-client';
import { measureForwarding } from '../../../src/composition/forwarding-metrics.js';
import { MongoNetworkError, MongoServerError } from 'mongodb';
import { forwardedMutations } from '../../../src/composition/capabilities.js';
import { creditWallet } from '../../../src/capabilities/wallets/create.js';
import { createForwarding, type ForwardedMutation } from '../../../src/core/commit/forwarding.js';
import { serveForwarding } from '../../../src/core/commit/forwarding-server.js';
import { createGroupCommit, type GroupCommit } from '../../../src/core/commit/group-commit.js';
import type {
  Mutation,
  MutationsByName,
  PlannedMutation,
} from '../../../src/core/commit/mutation.js';
import { createCommitProcesses, type CommitProcess } from '../../../src/core/commit/processes.js';
import { noOutbox } from '../../../src/core/webhooks/outbox.js';
import { OverloadError } from '../../../src/shared/batching.js';
import { ApiError, OUTCOME_UNKNOWN } from '../../../src/shared/errors.js';
import { newId } from '../../../src/shared/ids.js';
import { createLog } from '../../../src/shared/log.js';
import { withEmptyParts } from '../../support/parts.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { commitNamed } from '../../support/mutations.js';
import { acceptTransferMutation, pendingTransfer } from '../../support/transfers.js';

const RELEASE = '1.0.0';
/** The mutations that wait in a lane at most. */
const LANE_PLACES = 4_096;
/** No process listens there. */
const NOWHERE = 'http://127.0.0.1:9';
const log = createLog({ level: 'silent', name: 'test' });

/** Refused in the two ways in which the engine refuses mutations. */
const refuse: Mutation<{ tenantId: string; as: 'field' | 'overload' | 'away' | 'bug' }> = {
  reads: () => ({}),
  decide(_, { as }) {
    if (as === 'away') throw new MongoNetworkError('connection 5 closed');
    if (as === 'bug')
      throw new MongoServerError({ message: 'Document failed validation', code: 121 });
    if (as === 'overload') throw new OverloadError();
    throw new ApiError('validation_error', { field: 'amount_minor', details: { least: 1 } });
  },
};
const mutations: MutationsByName = { ...forwardedMutations, refuse };

let database: TestDatabase;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  await processes().deleteMany({});
});
afterAll(() => database.close());

const processes = () => database.db.collection<CommitProcess>('commit_processes');

/** Lists a process that nobody reports again: that of a live process is repaired every two seconds. */
const list = (changes: Partial<CommitProcess> = {}) =>
  processes().insertOne({
    _id: 'listed',
    url: NOWHERE,
    token: 'token',
    release: RELEASE,
    // A slow machine must not let it run out.
    seen_at: new Date(Date.now() + 60_000),
    ...changes,
  });

type Opened = {
  serves?: boolean;
  listedAs?: Partial<CommitProcess>;
  hold?: (planned: PlannedMutation) => Promise<unknown>;
};

/**
 * A commit engine with its own forwarding; with a host it commits for others, and counts what it commits. `listedAs`: it is
 * listed once, with these changes. `hold`: what others have sent is committed after it.
 */
async function openProcess({ serves = false, listedAs, hold }: Opened = {}) {
  const known = createCommitProcesses(database.db, { release: RELEASE, log });
  const forwarding = createForwarding(known, mutations);
  const engine = createGroupCommit(database, noOutbox, () => false, forwarding);
  const registry = new Registry();
  const onServed = measureForwarding(registry, { forwarding, processes: known });
  const here = { count: 0 };
  const counted: GroupCommit = {
    ...engine,
    commitHere: async (planned) => {
      here.count += 1;
      await hold?.(planned);
      return engine.commitHere(planned);
    },
  };
  const join = async (url: string) => {
    await list({ url, ...listedAs });
    return 'token';
  };
  const served = await serveForwarding({
    host: serves ? '127.0.0.1' : undefined,
    port: 0,
    groupCommit: counted,
    forwarding,
    mutations,
    processes: listedAs === undefined ? known : { ...known, join },
    log,
    onServed,
  });
  closing.push(async () => {
    await served.close();
    await forwarding.close();
    await known.idle();
  });
  /** Waits until this process has read the list and would hand this tenant's mutations to another one, or to none. */
  const choosing = (tenantId: string, wanted: boolean) =>
    eventually('the list is read', () =>
      (known.committerOf(tenantId) !== null) === wanted ? true : undefined,
    );
  /** A metric of this process. */
  const measured = async (line: string) => {
    const text = await registry.metrics();
    const found = text.split('\n').find((each) => each.startsWith(`bursar_commit_${line} `));
    return Number(found?.split(' ').at(-1));
  };
  const committerOf = (tenantId: string) => known.committerOf(tenantId);
  return { engine, forwarding, here, choosing, committerOf, measured, leave: () => served.close() };
}

/** A listener in place of a committing process. It gets the batch and commits it or not, and closes the connection. */
async function openDying(commits: GroupCommit | null) {
  const got: ForwardedMutation[] = [];
  const server: Server = createServer((req, res) => {
    if (req.url !== '/commits') return void res.writeHead(204).end();
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
      const batch = deserialize(Buffer.concat(chunks)) as ForwardedMutation[];
      got.push(...batch);
      for (const { name, input } of commits ? batch : []) {
        await commits?.commit(mutations[name] as Mutation, input);
      }
      res.destroy();
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await list({ url: `http://127.0.0.1:${port}` });
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return got;
}

async function credit(engine: GroupCommit, tenantId: string, reference: string) {
  return creditWallet(engine, { tenantId, amountMinor: 100n, reference });
}

const available = async (tenantId: string) => {
  const wallets = database.db.collection<{ _id: string; available_minor: bigint }>('wallets');
  return (await wallets.findOne({ _id: tenantId }))?.available_minor;
};

test('a contended wallet is committed by the one process that serves others, and each caller gets its own result', async () => {
  const [serving, other] = [await openProcess({ serves: true }), await openProcess()];
  const tenantId = newId('tenant');
  await credit(other.engine, tenantId, 'before');
  expect(serving.here.count).toBe(0);
  other.forwarding.conflicted([tenantId]);
  await other.choosing(tenantId, true);
  const more = Array.from({ length: 20 }, (_, i) => credit(other.engine, tenantId, `after-${i}`));
  await Promise.all(more);
  expect(serving.here.count).toBe(20);
  expect(await available(tenantId)).toBe(2_100n);
  const transfer = pendingTransfer({ tenant_id: tenantId });
  const refused = await commitNamed(other.engine, acceptTransferMutation(transfer));
  expect(refused).toMatchObject({ answer: { status: 422 }, resource: null });
  expect(serving.here.count).toBe(21);
});

test('what is handed over, served and taken back is counted', async () => {
  const [serving, other] = [await openProcess({ serves: true }), await openProcess()];
  const tenantId = newId('tenant');
  expect(await other.measured('contended_wallets')).toBe(0);
  other.forwarding.conflicted([tenantId]);
  await other.choosing(tenantId, true);
  expect(await other.measured('contended_wallets')).toBe(1);
  expect(await other.measured('processes')).toBe(1);
  expect(await serving.measured('process_last_report_timestamp_seconds')).toBeGreaterThan(1e9);
  expect(await other.measured('process_last_report_timestamp_seconds')).toBe(0);
  await credit(other.engine, tenantId, 'one');
  await expect(other.engine.commit(refuse, { tenantId, as: 'field' })).rejects.toThrow();
  await expect(other.engine.commit(refuse, { tenantId, as: 'bug' })).rejects.toThrow();
  expect(await serving.measured('served_mutations_total')).toBe(3);
  expect(await other.measured('forwarded_mutations_total{result="answered"}')).toBe(2);
  expect(await other.measured('forwarded_mutations_total{result="failed"}')).toBe(1);
  // The process is gone and still listed: what it has not got is committed here.
  await serving.leave();
  await list();
  const late = await openProcess();
  late.forwarding.conflicted([tenantId]);
  await late.choosing(tenantId, true);
  await credit(late.engine, tenantId, 'two');
  expect(await late.measured('forwarded_mutations_total{result="unsent"}')).toBe(1);
  expect(await available(tenantId)).toBe(200n);
});

test('processes that conflict about a wallet agree on one that commits it', async () => {
  const all = [await openProcess({ serves: true }), await openProcess({ serves: true })];
  const tenantId = newId('tenant');
  const credits = Array.from({ length: 400 }, (_, i) =>
    credit((all[i % 2] as (typeof all)[number]).engine, tenantId, `together-${i}`),
  );
  await Promise.all(credits);
  expect(await available(tenantId)).toBe(40_000n);
  for (const { forwarding } of all) forwarding.conflicted([tenantId]);
  await eventually('one of two hands over', async () => {
    const before = all.map(({ here }) => here.count);
    const again = all.map(({ engine }, i) => credit(engine, tenantId, `again-${before[i]}`));
    await Promise.all(again);
    return all.some(({ here }, i) => here.count > Number(before[i])) || undefined;
  });
});

test('the process that is chosen for a wallet tells the others, whose transactions may never lose', async () => {
  const all = [await openProcess({ serves: true }), await openProcess({ serves: true })];
  const tenantId = newId('tenant');
  const other = await eventually('the lists are read', () => {
    const [first, second, ...more] = all.filter((each) => each.committerOf(tenantId) !== null);
    return first && !second && more.length === 0 ? first : undefined;
  });
  const chosen = all.find((each) => each !== other);
  await credit(other.engine, tenantId, 'alone');
  expect(chosen?.here.count).toBe(0);

  chosen?.forwarding.conflicted([tenantId]);
  await eventually('the other one hands over', async () => {
    await credit(other.engine, tenantId, newId('event'));
    return (chosen?.here.count ?? 0) > 0 || undefined;
  });
});

test.each([true, false])(
  'a mutation without an answer is committed here, and takes effect once (committed there: %s)',
  async (committed) => {
    const plain = createGroupCommit(database);
    const got = await openDying(committed ? plain : null);
    const { engine, forwarding, choosing, measured } = await openProcess();
    const tenantId = newId('tenant');
    await credit(engine, tenantId, 'before');
    forwarding.conflicted([tenantId]);
    await choosing(tenantId, true);
    await Promise.all(Array.from({ length: 5 }, (_, i) => credit(engine, tenantId, `credit-${i}`)));
    expect(got.length).toBeGreaterThan(0);
    expect(await available(tenantId)).toBe(600n);
    const unknown = await measured('forwarded_mutations_total{result="unknown"}');
    expect(unknown).toBe(got.length);
    // It is not asked again at once.
    const asked = got.length;
    await credit(engine, tenantId, 'later');
    expect(got).toHaveLength(asked);
    expect(await available(tenantId)).toBe(700n);
  },
);

/** Sends a credit as another process does, at this moment of the sender's clock. */
async function sendCredit(
  { tenantId, sentAt }: { tenantId: string; sentAt: number },
  signal?: AbortSignal,
): Promise<unknown> {
  const to = await eventually('the process is listed', async () => processes().findOne({}));
  const input = { tenantId, id: `credit/${tenantId}/${sentAt}`, amountMinor: 100n };
  const response = await fetch(`${to?.url}/commits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${to?.token}` },
    body: serialize([{ name: 'applyCredit', input, isRepeat: false, sentAt }]),
    ...(signal && { signal }),
  });
  return deserialize(Buffer.from(await response.arrayBuffer()));
}

test('a mutation is not committed for a sender that may have given up, because it may have answered its client otherwise', async () => {
  await openProcess({ serves: true });
  const tenantId = newId('tenant');
  await expect(sendCredit({ tenantId, sentAt: Date.now() - 2_500 })).resolves.toEqual([
    { failed: true },
  ]);
  expect(await available(tenantId)).toBeUndefined();
  // The same with the present time.
  await expect(sendCredit({ tenantId, sentAt: Date.now() + 60_000 })).resolves.toEqual([
    { result: expect.anything() },
  ]);
  expect(await available(tenantId)).toBe(100n);
});

test('a mutation is not committed for a sender that has closed its connection', async () => {
  const hold = ({ isTooLate }: PlannedMutation) =>
    eventually('the end of the connection is read', () => isTooLate?.() || undefined);
  const { here, engine } = await openProcess({ serves: true, hold });
  const tenantId = newId('tenant');
  const leaving = new AbortController();
  const sent = sendCredit({ tenantId, sentAt: Date.now() + 60_000 }, leaving.signal);
  await eventually('it has arrived', () => here.count || undefined);
  leaving.abort();
  await expect(sent).rejects.toThrow();
  // The process commits another one after it.
  await expect(sendCredit({ tenantId, sentAt: 0 })).resolves.toEqual([{ failed: true }]);
  await engine.idle();
  expect(await available(tenantId)).toBeUndefined();
});

test.each<'overload' | 'away'>(['overload', 'away'])(
  'after a lost answer, a process that takes nothing now (%s) says that the outcome is unknown',
  async (as) => {
    const got = await openDying(null);
    const { engine, forwarding, choosing } = await openProcess();
    const tenantId = newId('tenant');
    forwarding.conflicted([tenantId]);
    await choosing(tenantId, true);
    await expect(engine.commit(refuse, { tenantId, as })).rejects.toMatchObject({
      code: 'service_unavailable',
      message: OUTCOME_UNKNOWN,
    });
    expect(got).toHaveLength(1);
  },
);

test('after a lost answer, a process whose queue is full says that the outcome is unknown', async () => {
  const tenantId = newId('tenant');
  const wallets = database.db.collection<{ _id: string }>('wallets');
  const session = database.client.startSession();
  const { engine, forwarding, choosing } = await openProcess();
  await credit(engine, tenantId, 'before');
  const nothing: Mutation<{ tenantId: string }> = { reads: () => ({}), decide: () => null };
  let waiting: Promise<unknown> = Promise.resolve();
  /** The queue waits for a credit, which waits for a transaction that has the wallet. */
  const occupy = async () => {
    session.startTransaction();
    await wallets.updateOne({ _id: tenantId }, { $inc: { version: 1n } }, { session });
    const input = { tenantId, id: `credit/${tenantId}/blocked`, amountMinor: 1n };
    const blocked = engine.commitHere({ mutation: mutations['applyCredit'] as Mutation, input });
    await eventually('it has begun', () => (engine.waiting() === 0 ? true : undefined));
    const planned = { mutation: nothing as Mutation, input: { tenantId } };
    const queued = Array.from({ length: LANE_PLACES }, () => engine.commitHere(planned));
    waiting = Promise.allSettled([blocked, ...queued]);
  };
  const got = await openDying(withEmptyParts<GroupCommit>({ commit: occupy as never }));
  forwarding.conflicted([tenantId]);
  await choosing(tenantId, true);
  await expect(credit(engine, tenantId, 'late')).rejects.toMatchObject({
    code: 'service_unavailable',
    message: OUTCOME_UNKNOWN,
  });
  expect(got).toHaveLength(1);
  await session.abortTransaction();
  await session.endSession();
  await waiting;
});

test('a refusal comes back as it was decided', async () => {
  const [serving, other] = [await openProcess({ serves: true }), await openProcess()];
  const tenantId = newId('tenant');
  other.forwarding.conflicted([tenantId]);
  await other.choosing(tenantId, true);
  const asked = (as: 'field' | 'overload' | 'away' | 'bug') =>
    other.engine.commit(refuse, { tenantId, as });
  await expect(asked('field')).rejects.toMatchObject({
    code: 'validation_error',
    status: 400,
    field: 'amount_minor',
    details: { least: 1 },
  });
  await expect(asked('field')).rejects.toBeInstanceOf(ApiError);
  await expect(asked('overload')).rejects.toBeInstanceOf(OverloadError);
  expect(serving.here.count).toBe(3);
  // A database that is away is a 503, as it is without forwarding.
  await expect(asked('away')).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
  // Any other error is the one that the sender's own commit has.
  await expect(asked('bug')).rejects.toBeInstanceOf(MongoServerError);
  await expect(asked('bug')).rejects.toMatchObject({ code: 121 });
  expect(serving.here.count).toBe(6);
});

test.each<[string, Partial<CommitProcess>]>([
  ['another release', { release: '2.0.0' }],
  ['was not seen for a while', { seen_at: new Date(Date.now() - 20_000) }],
  ['does not listen', { url: NOWHERE }],
  ['another token', { token: 'another' }],
])('no mutation is lost to a process that is listed wrongly (%s)', async (_how, listedAs) => {
  const serving = await openProcess({ serves: true, listedAs });
  const { engine, forwarding } = await openProcess();
  const tenantId = newId('tenant');
  await credit(engine, tenantId, 'before');
  forwarding.conflicted([tenantId]);
  for (let i = 0; i < 5; i += 1) await credit(engine, tenantId, `credit-${i}`);
  expect(serving.here.count).toBe(0);
  expect(await available(tenantId)).toBe(600n);
});

test('a mutation of a wallet that is not contended, or without a name, is committed by its own process', async () => {
  const [serving, other] = [await openProcess({ serves: true }), await openProcess()];
  const [contended, quiet] = [newId('tenant'), newId('tenant')];
  other.forwarding.conflicted([contended]);
  await other.choosing(contended, true);
  await credit(other.engine, quiet, 'one');
  const unnamed: Mutation<{ tenantId: string }> = { reads: () => ({}), decide: () => 'here' };
  expect(await other.engine.commit(unnamed, { tenantId: contended })).toBe('here');
  expect(serving.here.count).toBe(0);
});
