import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atMost } from '../../src/concurrency.js';
import { FAMILY_NAMES, GIVEN_NAMES } from '../../src/sandbox-bank/directory.js';
import { newCustomer } from '../../test/support/payments.js';
import type { Actor } from './actor.js';
import type { StormStage } from './stage.js';
import { readTold } from './told.js';

type Documents = Record<string, unknown>;

/** Everything that may be wrong after a storm, in plain words. Empty when the claim holds. */
export async function check(stage: StormStage, actors: readonly Actor[]): Promise<string[]> {
  const told = await readTold(stage);
  const problems = [
    // Postings balance, wallets are their postings, what is held is what is open, and the bank agrees.
    ...(await stage.service.problems()),
    ...(await nothingOpen(stage)),
    ...told.problems,
    ...(await nothingLeaks(stage)),
  ];
  for (const actor of actors) {
    const found = [...actor.problems, ...(await actor.check(told))];
    problems.push(...found.map((problem) => `${actor.name}: ${problem}`));
  }
  return problems;
}

/** Collections whose records go through states, and when one of them is under way. */
const IN_DOUBT = { status: { $in: ['pending', 'processing'] } };
export const RUNNING = 'ExecutionStatus = "Running"';
const DUE = { due_at: { $type: 'date' } };
const OPEN: readonly (readonly [string, Documents])[] = [
  ['transfers', { $or: [IN_DOUBT, DUE] }],
  ['transfer_batches', DUE],
  ['card_operations', { $or: [IN_DOUBT, DUE] }],
  ['charges', { $or: [IN_DOUBT, DUE] }],
  ['refunds', { $or: [IN_DOUBT, DUE] }],
  ['card_event_replays', { $or: [IN_DOUBT, DUE] }],
  ['callbacks', { next_try_at: { $type: 'date' } }],
  ['webhook_deliveries', { status: { $ne: 'delivered' } }],
];

/** What is still under way, and how much of it: records, callbacks, deliveries, workflows. */
export async function countOpen({ service }: StormStage): Promise<[string, number][]> {
  const { database, temporal } = service.deps;
  const counts = OPEN.map(async ([collection, filter]): Promise<[string, number]> => {
    return [collection, await database.db.collection(collection).countDocuments(filter)];
  });
  return [
    ...(await Promise.all(counts)),
    ['workflows', (await temporal.client.workflow.count(RUNNING)).count],
    ['callbacks at the bank', await service.bank.callbacksWaiting()],
  ];
}

export async function nothingOpen(stage: StormStage): Promise<string[]> {
  const open = (await countOpen(stage)).filter(([, count]) => count > 0);
  return Promise.all(
    open.map(async ([what, count]) => {
      const names = await openOf(stage, what);
      return `${count} ${what} open${names.length > 0 ? `: ${names.join(', ')}` : ''}`;
    }),
  );
}

const MOST_NAMED = 5;

/** Some of them by name; of what the bank has to tell us, it says only how much it is. */
async function openOf({ service }: StormStage, what: string): Promise<string[]> {
  const { database, temporal } = service.deps;
  const filter = OPEN.find(([collection]) => collection === what)?.[1];
  if (filter) {
    const found = database.db.collection(what).find(filter, { projection: { _id: 1 } });
    return (await found.limit(MOST_NAMED).toArray()).map(({ _id }) => String(_id));
  }
  const names: string[] = [];
  if (what !== 'workflows') return names;
  const { workflow } = temporal.client;
  for await (const { workflowId, runId } of workflow.list({ query: RUNNING })) {
    // Temporal's list follows its workflows, late at times: what the workflow itself says is told beside it.
    const { status } = await workflow.getHandle(workflowId, runId).describe();
    if (names.push(`${workflowId} (${status.name})`) === MOST_NAMED) break;
  }
  return names;
}

/** What no history may hold: the accounts that orders of the storm go to, their holders, keys, secrets. */
const NOWHERE: readonly (readonly [string, RegExp])[] = [
  ['an account number', /0123456\d{3}/],
  ['an API key', /\b[sp]k_(?:sandbox|live)_[0-9A-Za-z]/],
  ['a webhook secret', /\bwhsec_[0-9A-Za-z+/]/],
  ["a provider's authorization", /\bauthz_[0-9a-f]/],
  [
    'the name of an account holder',
    new RegExp(`\\b(?:${GIVEN_NAMES.join('|')})\\s+(?:${FAMILY_NAMES.join('|')})\\b`, 'i'),
  ],
];

const HISTORIES_AT_ONCE = 4;

/** The same as the logs are searched for (test/support/logs.ts), and who pays in this storm. */
function notedSecrets(): (readonly [string, string])[] {
  const file = join(String(process.env['BURSAR_TEST_LOGS']), 'secrets.jsonl');
  const noted = new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean));
  const { email, name } = newCustomer();
  return [
    ...[...noted].map((line) => ['a secret of the tests', JSON.parse(line) as string] as const),
    ['the e-mail address of a customer', email],
    ['the name of a customer', name],
  ];
}

/** Nothing of it in any history; the logs are searched when the run ends. */
async function nothingLeaks({ service }: StormStage): Promise<string[]> {
  const { workflow } = service.deps.temporal.client;
  const secrets = notedSecrets();
  const runs: { workflowId: string; runId: string }[] = [];
  for await (const { workflowId, runId } of workflow.list()) runs.push({ workflowId, runId });
  const found = await atMost(HISTORIES_AT_ONCE, runs, async ({ workflowId, runId }) => {
    const text = textOf(await workflow.getHandle(workflowId, runId).fetchHistory());
    // A history in which not even the id is found was not read.
    const id = workflowId.slice(workflowId.indexOf('/') + 1);
    const unread = text.includes(id) ? [] : [`the history of ${workflowId} is not readable`];
    const leaks = [
      ...NOWHERE.filter(([, pattern]) => pattern.test(text)),
      ...secrets.filter(([, secret]) => text.includes(secret)),
    ];
    return [...unread, ...leaks.map(([what]) => `the history of ${workflowId} has ${what}`)];
  });
  return found.flat();
}

/** Everything in a history, payloads decoded. */
const textOf = (history: object): string =>
  JSON.stringify(history, (_, value: unknown) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
    const bytes = value as { type?: string; data?: number[] } | null;
    return bytes?.type === 'Buffer' ? Buffer.from(bytes.data ?? []).toString('utf8') : value;
  });
