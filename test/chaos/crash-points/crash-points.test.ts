import { inspect } from 'node:util';
import { mapWithConcurrency } from '../../../src/shared/concurrency.js';
import { FAILPOINTS } from '../../../src/shared/failpoints.js';
import { authorizations } from './authorizations.js';
import { billPayments } from './bill-payments.js';
import { bulkTransfers } from './bulk-transfers.js';
import type { Case } from './capability.js';
import { cardDisputes } from './card-disputes.js';
import { cardLocks } from './card-locks.js';
import { cards } from './cards.js';
import { chargeEnds } from './charge-ends.js';
import { closing, unloads } from './closing.js';
import { commands } from './commands.js';
import { cardIssuance } from './card-issuance.js';
import { endpoints } from './endpoints.js';
import { identityChecks } from './identity-checks.js';
import { lastingFaults } from './lasting-faults.js';
import { lateFundings } from './late.js';
import { lostReversals } from './lost-reversals.js';
import { otherBanks } from './other-banks.js';
import { pages } from './pages.js';
import { payments } from './payments.js';
import { reloads } from './reloads.js';
import { renewals } from './renewals.js';
import { replays } from './replays.js';
import { revocations } from './revocations.js';
import { accountsAndDeposits } from './virtual-accounts.js';
import { unreadableMessages } from './unreadable.js';
import { openCluster, type Cluster } from './cluster.js';
import { manyTransfers } from './together.js';
import { takenBack } from './taken-back.js';
import { transfers } from './transfers.js';

/** Number of services that run in parallel: a case mostly waits for a restart, which needs no processor. */
const CLUSTERS = Number(process.env['POINTS_CLUSTERS'] ?? 6);
/** Tries only the cases whose names match, and does not check that every point has fired. */
const pattern = process.env['POINTS'];
/** `K/N`: tries every Nth case from the Kth on. CI passes the day as K, so that N days in a row try all of them. */
const sample = process.env['POINTS_SAMPLE'];

const all = [
  ...transfers,
  ...manyTransfers,
  ...bulkTransfers,
  ...commands,
  ...cards,
  ...cardLocks,
  ...closing,
  ...unloads,
  ...cardDisputes,
  ...cardIssuance,
  ...reloads,
  ...replays,
  ...lateFundings,
  ...authorizations,
  ...payments,
  ...pages,
  ...chargeEnds,
  ...renewals,
  ...revocations,
  ...identityChecks,
  ...billPayments,
  ...accountsAndDeposits,
  ...unreadableMessages,
  ...endpoints,
  ...takenBack,
  ...lostReversals,
  ...lastingFaults,
  ...otherBanks,
];
const [first = 0, every = 1] = (sample ?? '0/1').split('/').map(Number);
if (!Number.isInteger(first) || !(every >= 1))
  throw new Error(`POINTS_SAMPLE is not K/N: ${sample}`);
const cases = all
  .filter((_, i) => i % every === first % every)
  .filter(({ name }) => pattern === undefined || new RegExp(pattern).test(name));
if (sample !== undefined) {
  process.stderr.write(`sample ${sample}: ${cases.length} of ${all.length} cases\n`);
}

const free: Cluster[] = [];
const fired = new Set<string>();
const results = new Map<string, unknown>();
let lastOpened: Promise<unknown> = Promise.resolve();

/** Clusters open one after the other, because many processes that start at once slow each other down. */
async function newCluster(): Promise<Cluster> {
  const opened = lastOpened.then(() => openCluster());
  lastOpened = opened.catch(() => undefined);
  return opened;
}

/** Runs a case on a cluster that runs no other case. A cluster on which a case failed is not used again. */
async function run({ name, run }: Case): Promise<void> {
  let cluster = free.pop();
  let began = performance.now();
  try {
    cluster ??= await newCluster();
    began = performance.now();
    await cluster.service.bank.faults([]);
    await run(cluster);
    results.set(name, 'right');
    free.push(cluster);
  } catch (error) {
    results.set(name, error);
    await cluster?.close();
  }
  for (const point of cluster?.fired ?? []) fired.add(point);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const result = results.get(name);
  const verdict = result === 'right' ? 'right' : 'WRONG';
  process.stderr.write(`${results.size}/${cases.length} ${verdict} ${seconds} s: ${name}\n`);
  if (verdict === 'WRONG') process.stderr.write(`${inspect(result)}\n`);
}

beforeAll(async () => void (await mapWithConcurrency(CLUSTERS, cases, run)));
afterAll(() => Promise.all(free.map((cluster) => cluster.close())));

test('each crash-point case has a unique name', () => {
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});

test.each(cases)('$name', ({ name }) => {
  const result = results.get(name);
  if (result instanceof Error) throw result;
  expect(result).toBe('right');
});

if (pattern === undefined && sample === undefined) {
  test('every failpoint has fired', () => {
    expect(FAILPOINTS.filter((point) => !fired.has(point))).toEqual([]);
  });
}
