import type { Db, Document, MongoClient } from 'mongodb';
import type { Config } from '../../shared/config.js';
import { createMongoClient, isMongos, WAIT_LIMIT_MS } from '../../platform/database/client.js';
import { hasNewer, wantedOf } from '../../platform/database/migrations.js';
import { misnamedPeppers, pepperUses } from '../../platform/api-keys/pepper-register.js';
import { unretiredKeys } from '../../platform/sealing/key-register.js';
import { createSealing, type Sealing } from '../../platform/sealing/sealing.js';
import { listSecretUses, type ProviderSecretUse } from '../../core/providers/secret-uses.js';
import { DAY_MS } from '../../shared/durations.js';
import type { KeyPepper } from '../../shared/key-peppers.js';
import { inspectSchema, undeclaredExpiries } from '../../platform/database/inspect.js';
import { unsupportedMongod } from '../../shared/mongodb-support.js';
import { claimedForMs } from '../../composition/backlogs.js';
import { migrations } from '../../composition/migrations.js';
import { examineAuditLog } from './audit-log.js';
import { examineBacklog } from './backlog.js';
import { examine, pass, fail, type Check } from './check.js';
import { examineProviderStates } from './providers.js';
import { examineReconciliations } from './reconciliation.js';
import type { ExpectedRun } from '../../composition/reconciliation.js';

/** Expiries and limits use the clocks of our machines. No other code compares these clocks with the server's. */
const CLOCK_TOLERANCE_MS = 1_000;
/**
 * The limit that our deployments set: documents stay locked this long after a process was killed inside a transaction.
 */
const TRANSACTION_LIMIT_S = 3;

/** Checks MongoDB and its data. If the server does not answer, that is the only result. */
export async function examineMongodb(
  config: Config,
  expected: readonly ExpectedRun[],
): Promise<Check[]> {
  const { uri, database } = config.mongodb;
  const client = createMongoClient(uri, 'bursar-doctor');
  const db = client.db(database);
  let hello: Document = {};
  try {
    const hint =
      'start it, or correct MONGODB_URI; a replica set without a majority has no primary';
    const reach = async () => {
      await client.connect();
      hello = await db.admin().command({ hello: 1 });
      return pass(`answers, database ${database}`);
    };
    // The limit is above the driver's, so that the driver's reason is reported.
    const reached = await examine('mongodb', hint, reach, WAIT_LIMIT_MS + 1_000);
    if (!reached.ok) return [reached];
    return [
      reached,
      ...(await examineServer(client, db, hello, config)),
      ...(await examineBacklog(db, { claimedForMs: claimedForMs(config) })),
      ...(await examineProviderStates(db)),
      await examineReconciliations(db, expected),
    ];
  } finally {
    await client.close();
  }
}

function examineServer(
  client: MongoClient,
  db: Db,
  hello: Document,
  config: Config,
): Promise<Check[]> {
  const hint = 'start mongod with --replSet and initiate the set';
  const sealing = createSealing(config.sealingKeys);
  return Promise.all([
    examineVersion(db, config.environment),
    examine('mongodb: replica set', hint, async () => examineTopology(hello, hint)),
    isMongos(hello) ? examineSharding(client, db) : examineTransactionLimit(db),
    examineSchema(db),
    examineClock(db),
    examinePeppers(db, config.keyPeppers),
    examineSealingKeys(db, sealing),
    examineProviderSecrets(db, sealing, config),
    examineAuditLog(db),
    examineExpiries(db),
  ]);
}

function examineVersion(db: Db, environment: Config['environment']): Promise<Check> {
  const hint = 'use a MongoDB that its maker supports';
  return examine('mongodb: version', hint, async () => {
    const { version } = await db.admin().command({ buildInfo: 1 });
    return examineSupport(String(version), environment, hint);
  });
}

/** A version that is out of support passes in the sandbox, with a line that says so, and fails in live. */
export function examineSupport(version: string, environment: Config['environment'], hint: string) {
  const problem = unsupportedMongod(version);
  if (problem === null) return pass(version);
  return environment === 'live' ? fail(problem, hint) : pass(problem);
}

/** Tells from the server's `hello` whether it has transactions: a member of a replica set, or a mongos. */
export function examineTopology(hello: Document, hint: string): Omit<Check, 'check'> {
  if (isMongos(hello)) {
    return pass(
      `a mongos; set transactionLifetimeLimitSeconds=${TRANSACTION_LIMIT_S} on every shard, which a mongos does not report`,
    );
  }
  return hello.setName
    ? pass(String(hello.setName))
    : fail('a single server, which has no transactions', hint);
}

/** A sharded collection as the cluster describes it: `_id` is its name after the database's. */
type Sharded = { _id: string; key: Document };

function examineSharding(client: MongoClient, { databaseName: database }: Db): Promise<Check> {
  return examine('mongodb: sharding', SHARDING, async () => {
    const all = client.db('config').collection<Sharded>('collections');
    const own = wantedOf(migrations).map(([{ name }]) => `${database}.${name}`);
    return examineShardKeys(await all.find({ _id: { $in: own } }).toArray(), database);
  });
}

const SHARDING = 'shard the collections as docs/sharding.md says';

/** Compares the shard keys of a cluster with the declared ones. A database without any is on one shard, which is well. */
export function examineShardKeys(sharded: readonly Sharded[], database: string) {
  if (sharded.length === 0) return pass('no collection is sharded');
  const found = new Map(sharded.map(({ _id, key }) => [_id, inOneLine(key)]));
  const wrong = wantedOf(migrations).flatMap(([{ name, shardBy }]) => {
    const wanted = shardBy ? inOneLine({ [shardBy]: 1 }) : undefined;
    const key = found.get(`${database}.${name}`);
    return key === wanted
      ? []
      : [`${name} by ${key ?? 'nothing'} instead of ${wanted ?? 'nothing'}`];
  });
  if (wrong.length > 0) return fail(wrong.join('; '), SHARDING);
  return pass(`${sharded.length} collections, by tenant`);
}

/** A shard key as text. Numbers of a cluster may be bigints. */
const inOneLine = (key: Document): string =>
  Object.entries(key)
    .map(([field, direction]) => `${field}: ${direction}`)
    .join(', ');

function examineTransactionLimit(db: Db): Promise<Check> {
  const hint = `set transactionLifetimeLimitSeconds=${TRANSACTION_LIMIT_S} on every member (--setParameter)`;
  return examine('mongodb: transaction limit', hint, async () => {
    const answer = await db
      .admin()
      .command({ getParameter: 1, transactionLifetimeLimitSeconds: 1 });
    const seconds = Number(answer.transactionLifetimeLimitSeconds);
    return seconds <= TRANSACTION_LIMIT_S
      ? pass(`${seconds} s`)
      : fail(
          `${seconds} s: after a process was killed, its documents stay locked for this time`,
          hint,
        );
  });
}

function examineSchema(db: Db): Promise<Check> {
  const start = 'start an API or a worker of this version: it migrates first';
  return examine('mongodb: schema', start, async () => {
    const problems = await inspectSchema(db, migrations);
    const [first] = problems;
    if (!first) return pass(`${migrations.length} migrations, with their indexes and validators`);
    const detail = problems.map((each) => `${each.description} (${each.migration})`).join('; ');
    const unapplied = problems.some(({ description }) => description === 'is not applied');
    const remigrate = `stop API and workers, remove ${first.migration} from the collection migrations, and start them`;
    return fail(detail, unapplied ? start : remigrate);
  });
}

const UNDECLARED =
  'drop these indexes at once: MongoDB removes documents by them; then find who has the password of the user migrate';

/** MongoDB itself removes what such an index covers, whatever rights the users have. */
export function examineExpiries(db: Db): Promise<Check> {
  return examine(
    'mongodb: expiry',
    'the check lists the collections and their indexes',
    async () => {
      const found = await undeclaredExpiries(db, migrations);
      if (found.length === 0) return pass('only declared indexes remove documents');
      const names = found.join(', ');
      // A newer release may declare them.
      if (await hasNewer(db, migrations)) {
        return pass(`a newer release has migrated this database; its doctor must know: ${names}`);
      }
      return fail(`not of this release: ${names}`, UNDECLARED);
    },
  );
}

function examineClock(db: Db): Promise<Check> {
  const hint = 'synchronize the clocks of both machines by NTP';
  return examine('clock', hint, async () => {
    const offsetMs = await clockOffset(db);
    const detail = `${(offsetMs / 1000).toFixed(3)} s from MongoDB's`;
    return Math.abs(offsetMs) <= CLOCK_TOLERANCE_MS ? pass(detail) : fail(detail, hint);
  });
}

/**
 * Milliseconds by which this machine's clock is ahead of the server's. The quickest of three answers is the most exact.
 */
async function clockOffset(db: Db): Promise<number> {
  let best = { tookMs: Infinity, offsetMs: 0 };
  for (let round = 0; round < 3; round += 1) {
    const began = performance.now();
    const { localTime } = await db.admin().command({ hello: 1 });
    const tookMs = performance.now() - began;
    const offsetMs = Date.now() - tookMs / 2 - Number(localTime);
    if (tookMs < best.tookMs) best = { tookMs, offsetMs };
  }
  return best.offsetMs;
}

/** Checks the peppers with their marks, and names those that keys in use still need. */
function examinePeppers(db: Db, peppers: readonly KeyPepper[]): Promise<Check> {
  const hint =
    'set BURSAR_KEY_PEPPER to the value of the API and the worker: with another one no API key is valid';
  return examine('key pepper', hint, async () => {
    const misnamed = await misnamedPeppers(db, peppers);
    if (misnamed.length > 0) {
      return fail(`is not that of the stored keys (${misnamed.join(', ')})`, hint);
    }
    const uses = await pepperUses(db);
    const counted = (ids: readonly string[]) =>
      ids.map((id) => `${keysUnder(uses, id)} under ${id}`);
    const missing = [...uses.keys()].filter((used) => !peppers.some(({ id }) => id === used));
    if (missing.length > 0) {
      return fail(`the list lacks peppers of keys in use: ${counted(missing).join(', ')}`, RETURN);
    }
    const earlier = peppers.slice(1).map(({ id }) => id);
    return pass(
      earlier.length === 0
        ? 'is that of the stored keys'
        : `keys in use that still need an earlier one: ${counted(earlier).join(', ')}`,
    );
  });
}

const RETURN =
  'put the pepper back at the end of BURSAR_KEY_PEPPER, or revoke the keys that bursar secrets list counts';

const keysUnder = (uses: Awaited<ReturnType<typeof pepperUses>>, id: string): number =>
  Object.values(uses.get(id) ?? {}).reduce((sum, count) => sum + count, 0);

/** Names the sealing keys that are not retired, although they are not the first one. */
function examineSealingKeys(db: Db, sealing: Sealing): Promise<Check> {
  const hint = 'add the missing key to the end of BURSAR_SEALING_KEYS: its fields cannot be read';
  return examine('sealing keys', hint, async () => {
    const earlier = (await unretiredKeys(db)).filter((id) => id !== sealing.currentKeyId);
    const missing = earlier.filter((id) => !sealing.marks.some((mark) => mark.id === id));
    if (missing.length > 0) return fail(`the list lacks ${missing.join(', ')}`, hint);
    return pass(
      earlier.length === 0
        ? `${sealing.currentKeyId} seals, and no record needs another one`
        : `${sealing.currentKeyId} seals; not retired: ${earlier.join(', ')} (bursar secrets rotate)`,
    );
  });
}

/** An earlier secret that has verified nothing for this time is needed no more: providers repeat a message for three days. */
const SILENT_MS = 7 * DAY_MS;
const REMOVE =
  'remove these from the setting and restart: the provider signs with a later one since, and whoever has an old secret could sign too';

/** Names the earlier secrets with which providers still sign messages. Fails if some are not needed, and then names only these. */
export function examineProviderSecrets(
  db: Db,
  sealing: Sealing,
  config: Pick<Config, 'sandboxBank' | 'paystack'>,
  now = new Date(),
): Promise<Check> {
  return examine('provider secrets', 'the check reads the database', async () => {
    const uses = await listSecretUses(db, sealing, config);
    const earlier = uses.filter(({ position }) => position > 1);
    if (earlier.length === 0) return pass('one for each provider');
    const unneeded = earlier.filter((use) => isUnneeded(use, uses, now));
    if (unneeded.length > 0) {
      return fail(`not needed, with its last message: ${withTimes(unneeded)}`, REMOVE);
    }
    return pass(`last message that an earlier one verified: ${withTimes(earlier)}`);
  });
}

const withTimes = (uses: readonly ProviderSecretUse[]): string =>
  uses
    .map(
      ({ setting, position, lastVerifiedAt }) =>
        `${setting} number ${position}: ${lastVerifiedAt?.toISOString() ?? 'no message'}`,
    )
    .join(', ');

/** True for an earlier secret that is silent while the first one of its provider verifies messages. */
function isUnneeded(
  { setting, lastVerifiedAt: last }: ProviderSecretUse,
  uses: readonly ProviderSecretUse[],
  now: Date,
): boolean {
  const first = uses.find((use) => use.setting === setting)?.lastVerifiedAt ?? null;
  return (
    last !== null && first !== null && first > last && now.getTime() - last.getTime() > SILENT_MS
  );
}
