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
    ...(await nothingHeld(stage)),
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

/** Nothing is under way any more: no record, no callback, no delivery, no workflow. */
export async function nothingOpen({ service }: StormStage): Promise<string[]> {
  const { database, temporal, config } = service.deps;
  const counts = OPEN.map(async ([collection, filter]): Promise<[string, number]> => {
    return [collection, await database.db.collection(collection).countDocuments(filter)];
  });
  const query = `ExecutionStatus = "Running" AND TaskQueue = "${config.temporal.taskQueue}"`;
  const open: [string, number][] = [
    ...(await Promise.all(counts)),
    ['workflows', (await temporal.client.workflow.count(query)).count],
    ['callbacks at the bank', await service.bank.callbacksWaiting()],
  ];
  return open.flatMap(([what, count]) => (count > 0 ? [`${count} ${what} open`] : []));
}

async function nothingHeld({ service, tenants }: StormStage): Promise<string[]> {
  const held = await Promise.all(tenants.map(({ tenant }) => tenant.balance()));
  const wallets = await service.deps.database.db
    .collection<{ available_minor: bigint }>('wallets')
    .countDocuments({ available_minor: { $lt: 0n } });
  return [
    ...held.flatMap((balance, i) =>
      balance.held === 0 ? [] : [`tenant ${i} has ${balance.held} held`],
    ),
    ...(wallets > 0 ? [`${wallets} wallets are below zero`] : []),
  ];
}

/** No account number in a history; the logs are searched when the run ends. */
async function nothingLeaks({ service }: StormStage): Promise<string[]> {
  const { client } = service.deps.temporal;
  const problems: string[] = [];
  const query = `TaskQueue = "${service.deps.config.temporal.taskQueue}"`;
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const events = JSON.stringify(history.events ?? [], (_, value: unknown) => {
      const bytes = value as { type?: string; data?: number[] } | null;
      return bytes?.type === 'Buffer' ? Buffer.from(bytes.data ?? []).toString('utf8') : value;
    });
    // The numbers that all orders of the storm go to.
    if (/0123456\d{3}/.test(events)) problems.push(`${workflowId} has an account number`);
  }
  return problems;
}
