import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, Worker, type WorkflowBundle } from '@temporalio/worker';
import { sharedEngines } from '../support/engines.js';
import { installQuietRuntime } from '../support/quiet-runtime.js';

installQuietRuntime();

const folder = join(import.meta.dirname, 'histories');
const histories = readdirSync(folder).filter((file) => file.endsWith('.json'));
const { bundle: codePath } = sharedEngines();

const load = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as unknown;

/** Bounds with which the run of a history would have had other commands. */
const OTHER_BOUNDS: [string, object][] = [
  ['bulk-transfer.json', { chunkSize: 60 }],
  ['bulk-transfer.json', { chunksAtOnce: 1 }],
  ['webhook-delivery-retried-then-delivered.json', { rounds: 1 }],
  ['deposit-reconciliation.json', { maxPages: 1 }],
];
const nameOf = (file: string, bounds: object) => `${file} ${JSON.stringify(bounds)}`;

/** The error of each file's replay. One worker replays all of them, because each worker loads the whole bundle. */
const errors = new Map<string, Error | undefined>();

beforeAll(async () => {
  const recorded = histories.map((file) => ({ workflowId: file, history: load(file) }));
  const changed = OTHER_BOUNDS.map(([file, bounds]) => ({
    workflowId: nameOf(file, bounds),
    history: withInput(file, bounds),
  }));
  const all = [...recorded, ...changed];
  const replayed = Worker.runReplayHistories({ workflowBundle: { codePath } }, all);
  for await (const { workflowId, error } of replayed) errors.set(workflowId, error);
});

describe('recorded histories', () => {
  test.each(histories)('the present workflows replay %s', (file) => {
    expect([...errors.keys()]).toContain(file);
    expect(errors.get(file)).toBeUndefined();
  });

  test('a workflow with another sequence of commands does not replay', async () => {
    const replay = replayAs('changed-workflow.ts', 'transfer-paid-by-queue.json');
    await expect(replay).rejects.toThrow(/[Nn]ondeterminism|deterministic/);
  });

  test.each(OTHER_BOUNDS)('a run of %s follows the bounds of its input, %j', (file, bounds) => {
    const error = errors.get(nameOf(file, bounds));
    expect(String(error)).toMatch(/[Nn]ondeterminism|deterministic/);
  });

  test('the same change behind changed() replays runs that started without it', async () => {
    await replayAs('patched-workflow.ts', 'transfer-paid-by-queue.json');
  });
});

/** A recorded history whose input has these fields too. */
function withInput(file: string, more: object): unknown {
  const history = load(file) as {
    events: {
      workflowExecutionStartedEventAttributes?: { input: { payloads: { data: string }[] } };
    }[];
  };
  const [payload] =
    history.events[0]?.workflowExecutionStartedEventAttributes?.input.payloads ?? [];
  if (!payload) throw new Error(`${file} has no input`);
  const input = JSON.parse(Buffer.from(payload.data, 'base64').toString()) as object;
  payload.data = Buffer.from(JSON.stringify({ ...input, ...more })).toString('base64');
  return history;
}

async function replayAs(workflows: string, history: string): Promise<void> {
  const workflowsPath = join(import.meta.dirname, workflows);
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
  const bundle: WorkflowBundle = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  await Worker.runReplayHistory({ workflowBundle: bundle }, load(history), 'transfer/trf_recorded');
}
