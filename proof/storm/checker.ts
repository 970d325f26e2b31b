import { atMost } from '../../src/concurrency.js';
import { FAMILY_NAMES, GIVEN_NAMES } from '../../src/sandbox-bank/directory.js';
import type { Actor } from './actor.js';
import type { StormStage } from './stage.js';
import { readTold } from './told.js';

type Documents = Record<string, unknown>;

/** Everything that may be wrong after a storm, in plain words. Empty when the claim holds. */
export async function check(stage: StormStage, actors: readonly Actor[]): Promise<string[]> {
  const problems = [
    // Postings balance, wallets are their postings, what is held is what is open, and the bank agrees.
    ...(await stage.service.problems()),
    ...(await nothingOpen(stage)),
    ...(await readTold(stage)).problems,
    ...(await nothingLeaks(stage)),
  ];
  for (const actor of actors) {
    const found = [...actor.problems, ...(await actor.check())];
    problems.push(...found.map((problem) => `${actor.name}: ${problem}`));
  }
  return problems;
}

/** Collections whose records go through states, and when one of them is under way. */
const IN_DOUBT = { status: { $in: ['pending', 'processing'] } };
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
    ['workflows', (await temporal.client.workflow.count('ExecutionStatus = "Running"')).count],
    ['callbacks at the bank', await service.bank.callbacksWaiting()],
  ];
}

export async function nothingOpen(stage: StormStage): Promise<string[]> {
  const open = await countOpen(stage);
  return open.flatMap(([what, count]) => (count > 0 ? [`${count} ${what} open`] : []));
}

/** What no history may hold: the accounts that orders of the storm go to, their holders, keys, secrets. */
const NOWHERE: readonly (readonly [string, RegExp])[] = [
  ['an account number', /0123456\d{3}/],
  ['an API key', /\b[sp]k_(?:sandbox|live)_[0-9A-Za-z]/],
  ['a webhook secret', /\bwhsec_[0-9A-Za-z+/]/],
  [
    'the name of an account holder',
    new RegExp(`\\b(?:${GIVEN_NAMES.join('|')})\\s+(?:${FAMILY_NAMES.join('|')})\\b`, 'i'),
  ],
];

const HISTORIES_AT_ONCE = 4;

/** Nothing of it in any history; the logs are searched when the run ends. */
async function nothingLeaks({ service }: StormStage): Promise<string[]> {
  const { workflow } = service.deps.temporal.client;
  const runs: { workflowId: string; runId: string }[] = [];
  for await (const { workflowId, runId } of workflow.list()) runs.push({ workflowId, runId });
  const found = await atMost(HISTORIES_AT_ONCE, runs, async ({ workflowId, runId }) => {
    const text = textOf(await workflow.getHandle(workflowId, runId).fetchHistory());
    // A history in which not even the id is found was not read.
    const id = workflowId.slice(workflowId.indexOf('/') + 1);
    const unread = text.includes(id) ? [] : [`the history of ${workflowId} is not readable`];
    const leaks = NOWHERE.filter(([, pattern]) => pattern.test(text));
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
