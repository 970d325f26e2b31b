import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import type { Transfer } from '../../src/capabilities/transfers/record.js';
import type { ProviderEvent } from '../../src/core/provider-events/event.js';
import type { Revocation } from '../../src/ops/revocations.js';
import { startLoad, type SentRequest } from '../chaos/support/load.js';
import type { JournalEntry } from '../support/bank.js';
import { bursar } from '../support/cli.js';
import { payerOfEachKind, type Payment } from '../support/each-kind.js';
import { privateMongod, privateTemporal } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';
import { apiClient } from '../support/tenant.js';

type Engine<Start extends () => Promise<unknown>> = Awaited<ReturnType<Start>>;
type Restored = Awaited<ReturnType<typeof loseEverything>>;

const PER_SECOND = 6;
/** Paid at once, by callback, with a lost answer, after a temporary refusal. */
const SUFFIXES = ['789', '789', '001', '004', '010'];
const PHASE_MS = 3_000;
/** The effects that move money to somebody or from somebody, with the sign of our balance at the bank. */
const MOVES: Partial<Record<JournalEntry['kind'], 1 | -1>> = {
  paid: -1,
  charged: 1,
  refunded: -1,
  received: 1,
};

/** A key that exists in the backup. Its revocation and an export of the audit log are later than it. */
async function keyToRevoke({ env }: Service, tenant: string) {
  const made = await bursar(`keys create --tenant ${tenant} --level read --json`, env);
  const { id, key } = JSON.parse(made.out) as { id: string; key: string };
  return {
    id,
    key,
    /** Revokes the key, and returns the name of a file with the audit log as it is then. */
    async revoke(folder: string): Promise<string> {
      expect(await bursar(`keys revoke ${id} --yes`, env)).toMatchObject({ code: 0 });
      const file = join(folder, 'audit.jsonl');
      writeFileSync(file, (await bursar('audit export', env)).out);
      return file;
    },
  };
}

/** Ends all that a scenario has started, also one that fails. */
const toClose: (() => Promise<void>)[] = [];

/** Stops, kills and starts an engine, over all of its restarts. */
const engineOf = <E extends { pid: number; stop(): Promise<void>; restart(): Promise<unknown> }>(
  engine: E,
) => {
  let present: { pid: number; stop(): Promise<void> } = engine;
  return {
    stop: () => present.stop(),
    kill: () => process.kill(present.pid, 'SIGKILL'),
    async start() {
      present = (await engine.restart()) as typeof present;
    },
  };
};

async function copyOfMongoDb({ uri, folder }: Engine<typeof privateMongod>, to: string) {
  const client = new MongoClient(uri);
  try {
    await client.db('admin').command({ fsync: 1, lock: true });
    cpSync(join(folder, 'mongod'), to, { recursive: true });
    await client.db('admin').command({ fsyncUnlock: 1 });
  } finally {
    await client.close();
  }
}

const temporalFiles = (folder: string) =>
  readdirSync(folder).filter((name) => name.startsWith('temporal.db'));

/**
 * Backs MongoDB and Temporal up under load, one after the other, loses both some time later, restores them, and starts the
 * service as the guide says. The bank goes on meanwhile, and executes a repeated request twice.
 */
async function loseEverything(first: 'mongodb' | 'temporal') {
  const [mongod, temporal] = await Promise.all([privateMongod(), privateTemporal()]);
  const backups = mkdtempSync(join(tmpdir(), 'bursar-backup-'));
  toClose.push(async () => {
    await Promise.all([mongod.remove(), temporal.remove()]);
    rmSync(backups, { recursive: true, force: true });
  });
  const service = await startService({
    bank: { deduplicate: false, conclusiveAfterMs: 6_000 },
    mongodbUri: mongod.uri,
    temporalAddress: temporal.address,
    // A busy machine answers late: a submission that the bank refuses as too old counts.
    env: { BURSAR_PROVIDER_EVENT_RETRY_SECONDS: '0.1,0.3', SANDBOX_BANK_TIMEOUT_MS: '4000' },
  });
  toClose.push(() => service.close());
  const [mongodProcess, temporalProcess] = [engineOf(mongod), engineOf(temporal)];
  const tenant = await service.tenant({ balanceMinor: 1_000_000_000 });
  const revokedKey = await keyToRevoke(service, tenant.id);
  const payEachKind = await payerOfEachKind(service, tenant);
  const backedUp: Payment[] = [];
  const lost: Payment[] = [];
  const load = startLoad({
    tenants: [tenant],
    urls: [service.api.url],
    perSecond: PER_SECOND,
    suffixes: SUFFIXES,
  });
  toClose.push(async () => load.end());

  let acknowledged: SentRequest[] = [];
  async function backUpMongoDb(): Promise<void> {
    backedUp.push(...(await payEachKind()));
    // Without a worker for a moment, the backup has payments that the bank gets only afterwards.
    await service.worker.kill();
    backedUp.push(...(await payEachKind()));
    await sleep(1_000);
    acknowledged = load.requests.filter(({ answer }) => answer?.status === 201);
    await copyOfMongoDb(mongod, join(backups, 'mongod'));
    await service.worker.start();
    lost.push(...(await payEachKind()));
  }
  async function backUpTemporal(): Promise<void> {
    await temporalProcess.stop();
    for (const name of temporalFiles(temporal.folder)) {
      cpSync(join(temporal.folder, name), join(backups, name));
    }
    await temporalProcess.start();
  }
  /** Waits until the load has gone on for a while, and more transfers than those so far have been accepted. */
  async function phase(): Promise<void> {
    const accepted = () => load.requests.filter(({ answer }) => answer?.status === 201).length;
    const before = accepted();
    await sleep(PHASE_MS);
    await eventually('transfers are accepted', () =>
      accepted() > before + PER_SECOND ? true : undefined,
    );
  }
  const steps =
    first === 'mongodb' ? [backUpMongoDb, backUpTemporal] : [backUpTemporal, backUpMongoDb];
  for (const backUp of steps) {
    await phase();
    await backUp();
  }
  await phase();
  await eventually(
    'the bank has executed transfers and a payment of each kind that are in no backup',
    async () => {
      const earlier = new Set(acknowledged.map(({ answer }) => answer?.body.data.id));
      const later = new Set(
        load.requests.map(({ answer }) => answer?.body.data.id).filter((id) => !earlier.has(id)),
      );
      const moved = await movedAt(service);
      const waiting = await waitingOf(service, [...backedUp, ...lost], moved);
      if (waiting.length > 0) throw new Error(waiting.join(', '));
      return [...later].filter((id) => id && moved.has(id)).length > PER_SECOND ? true : undefined;
    },
    // The load goes on meanwhile.
    300_000,
  );

  const exported = await revokedKey.revoke(backups);
  load.end();
  mongodProcess.kill();
  temporalProcess.kill();
  await Promise.all([service.api.kill(), service.worker.kill()]);
  await sleep(200);
  rmSync(join(mongod.folder, 'mongod'), { recursive: true });
  for (const name of temporalFiles(temporal.folder)) rmSync(join(temporal.folder, name));
  cpSync(join(backups, 'mongod'), join(mongod.folder, 'mongod'), { recursive: true });
  for (const name of temporalFiles(backups)) {
    cpSync(join(backups, name), join(temporal.folder, name));
  }
  await Promise.all([mongodProcess.start(), temporalProcess.start()]);
  const prepared = await bursar(`restored --yes --json --audit ${exported}`, service.env);
  expect(prepared).toMatchObject({ code: 0 });
  const { presumed_submitted: presumed, revocations } = JSON.parse(prepared.out) as {
    presumed_submitted: Record<string, number>;
    revocations: Revocation[];
  };
  expect(presumed['transfers']).toBeGreaterThan(0);
  await Promise.all([service.worker.start(), service.api.start()]);
  await service.allEnded();
  const journal = await service.bank.journal();
  const executed = new Set(journal.map(({ reference }) => reference));
  return {
    service,
    revokedKey,
    revocations,
    acknowledged,
    backedUp,
    lost: lost.filter(({ reference }) => executed.has(reference)),
    journal,
  };
}

const movedAt = async ({ bank }: Service) =>
  new Set((await bank.journal()).map(({ reference }) => reference));

/** Those that the bank has neither executed nor, on a busy machine that submits late, refused. */
async function waitingOf({ deps }: Service, all: readonly Payment[], moved: ReadonlySet<string>) {
  const { db } = deps.database;
  const waiting: string[] = [];
  for (const { collection, id, reference } of all) {
    if (moved.has(reference)) continue;
    const failed = { _id: id, status: 'failed' };
    const found = await db.collection<{ _id: string }>(collection).findOne(failed);
    if (found === null) waiting.push(id);
  }
  return waiting;
}

/** The statement of the bank: a file with the rows of all that has moved money there, and the options that import it. */
function statementOf(journal: readonly JournalEntry[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-statement-'));
  toClose.push(async () => rmSync(folder, { recursive: true, force: true }));
  const at = Date.now();
  const rows = journal.flatMap(({ kind, reference, amount_minor: minor }) => {
    const sign = MOVES[kind];
    return sign ? [[new Date(at).toISOString(), reference, sign * minor].join(',')] : [];
  });
  const [file, mapping] = [join(folder, 'statement.csv'), join(folder, 'mapping.json')];
  writeFileSync(file, ['Date,Ref,Amount', ...rows].join('\n'));
  const columns = { reference: 'Ref', date: 'Date', amount: 'Amount' };
  writeFileSync(mapping, JSON.stringify({ columns, minor_units: true }));
  const time = (hours: number) => new Date(at + hours * 3_600_000).toISOString();
  return `${file} --provider sandbox-bank --mapping ${mapping} --from ${time(-3)} --to ${time(3)}`;
}

const transfersOf = (service: Service) =>
  service.deps.database.db.collection<Transfer>('transfers').find().toArray();

/** The transfers that the bank has paid, and of which the restored database has no record. */
async function lostTransfers({ service, journal }: Restored): Promise<string[]> {
  const known = new Set((await transfersOf(service)).map(({ _id }) => _id));
  return journal.flatMap(({ kind, reference }) =>
    kind === 'paid' && reference.startsWith('trf_') && !known.has(reference) ? [reference] : [],
  );
}

const twice = (references: readonly string[]) =>
  references.filter((reference, i) => references.indexOf(reference) !== i);

describe.each([
  ['MongoDB is older than Temporal', 'mongodb'],
  ['Temporal is older than MongoDB', 'temporal'],
] as const)('after a restore in which %s', (_, first) => {
  let restored: Restored;
  beforeAll(async () => {
    restored = await loseEverything(first);
  }, 780_000);
  afterAll(async () => {
    for (const close of toClose.splice(0).toReversed()) await close();
  });

  test('a key that was revoked after the backup is valid again, and refused once the listed commands were run', async () => {
    const { service, revokedKey, revocations } = restored;
    const { call } = apiClient(service.api.url, revokedKey.key);
    const use = async () => (await call('GET', '/balance', undefined)).status;
    expect(await use()).toBe(200);
    expect(revocations.map(({ command }) => command)).toEqual([
      `bursar keys revoke ${revokedKey.id} --yes`,
    ]);
    for (const { command } of revocations) {
      const ran = await bursar(command.replace('bursar ', ''), service.env);
      expect(ran).toMatchObject({ code: 0 });
    }
    const refused = async () => ((await use()) === 401 ? true : undefined);
    await eventually('the key is refused', refused);
  });

  test('nothing is paid twice, and all that was acknowledged before the backup is there and has its outcome', async () => {
    const { service, acknowledged, backedUp, journal } = restored;
    expect(twice(journal.map(({ kind, reference }) => `${kind} ${reference}`))).toEqual([]);
    const transfers = new Map((await transfersOf(service)).map((one) => [one._id, one]));
    expect(acknowledged.length).toBeGreaterThan(PER_SECOND);
    for (const { answer, body } of acknowledged) {
      const found = transfers.get(answer?.body.data.id ?? '');
      expect([body.reference, found?.reference, found?.status]).toEqual([
        body.reference,
        body.reference,
        'completed',
      ]);
    }
    const { db } = service.deps.database;
    const moved = new Set(journal.map(({ reference }) => reference));
    for (const { collection, id, reference } of backedUp) {
      const found = await db.collection<{ _id: string }>(collection).findOne({ _id: id });
      const ended = { status: moved.has(reference) ? 'completed' : 'failed' };
      expect({ id, ...found }).toMatchObject(
        collection === 'deposits' ? { id, state: 'credited' } : { id, ...ended },
      );
    }
  });

  test('what the bank has beyond the backup is found by reconciliation, calls an operator, and is all that differs', async () => {
    const { service, lost } = restored;
    const { db } = service.deps.database;
    const strangers = await lostTransfers(restored);
    expect(strangers.length).toBeGreaterThan(0);
    // The bank shows a payment of account 001 as pending until its callback has arrived, so a later run finds that one.
    const { code, report } = await eventually('the bank shows each payment as paid', async () => {
      const run = await bursar('reconcile --only transfers --json', service.env);
      const report = JSON.parse(run.out) as { differences: { id: string; difference: string }[] };
      return report.differences.length < strangers.length ? undefined : { ...run, report };
    });
    expect(code).toBe(1);
    expect(report.differences.map(({ id }) => id).toSorted()).toEqual(strangers.toSorted());
    expect(report.differences[0]?.difference).toBe('unknown with us, paid at the bank');
    const called = await eventually('an operator is called for each', async () => {
      const events = await db
        .collection<ProviderEvent>('provider_events')
        .find({ 'attention.since': { $type: 'date' } })
        .toArray();
      const references = new Set(events.flatMap(({ facts }) => facts.map((f) => f.reference)));
      return strangers.every((id) => references.has(id)) ? events : undefined;
    });
    expect(called[0]?.attention?.reason).toBeTruthy();
    // A second run finds the same, and calls nobody again.
    await bursar('reconcile --only transfers --json', service.env);
    const listed = { event: 'transfer.listed' };
    expect(await db.collection('provider_events').countDocuments(listed)).toBe(strangers.length);
    const problems = await service.problems();
    const sums = problems.filter((text) => !text.endsWith('which is not ours'));
    // A deposit is not among them: the bank may have more of them than we.
    expect(problems).toHaveLength(strangers.length + lost.length - 1 + sums.length);
    expect(sums).toEqual([]);
  });

  test('a statement of the bank names each lost payment of the other kinds, and a comparison credits the lost deposit once', async () => {
    const { service, lost, journal } = restored;
    const lostOf = (collection: Payment['collection']) =>
      lost.flatMap((one) => (one.collection === collection ? [one.id] : []));
    await bursar('reconcile --only deposits --apply --yes --json', service.env);
    const [deposit = ''] = lostOf('deposits');
    const credited = await eventually('the lost deposit is credited', async () => {
      const found = await service.deps.deposits.store.find(deposit);
      return found?.state === 'credited' ? found : undefined;
    });
    expect(credited.amount_minor).toBe(30_000n);

    const { out } = await bursar(`statements import ${statementOf(journal)} --json`, service.env);
    expect(JSON.parse(out)).toMatchObject({ agreement: false });
    const breaks = await service.deps.breaks.list({ status: 'open', limit: 10_000 });
    const missing = breaks.map(({ kind, reference }) => `${kind} ${reference}`);
    const strangers = [
      ...(await lostTransfers(restored)),
      ...lostOf('charges'),
      ...lostOf('refunds'),
      ...lostOf('bill_payments'),
    ];
    expect(new Set(missing)).toEqual(new Set(strangers.map((id) => `missing_here ${id}`)));
  });
});
