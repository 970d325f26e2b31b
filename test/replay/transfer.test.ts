import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundle,
} from '@temporalio/worker';
import { sharedEngines } from '../support/engines.js';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const folder = join(import.meta.dirname, 'histories');
const histories = readdirSync(folder).filter((file) => file.endsWith('.json'));
const { bundle: codePath } = sharedEngines();

const load = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as unknown;

describe('recorded histories', () => {
  test.each(histories)('the present workflows replay %s', async (file) => {
    await Worker.runReplayHistory(
      { workflowBundle: { codePath } },
      load(file),
      'transfer/trf_recorded',
    );
  });

  test('a workflow with another sequence of commands does not replay', async () => {
    const replay = replayAs('changed-workflow.ts', 'transfer-paid-by-queue.json');
    await expect(replay).rejects.toThrow(/[Nn]ondeterminism|deterministic/);
  });

  test('the same change behind changed() replays runs that started without it', async () => {
    await replayAs('patched-workflow.ts', 'transfer-paid-by-queue.json');
  });
});

async function replayAs(workflows: string, history: string): Promise<void> {
  const workflowsPath = join(import.meta.dirname, workflows);
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
  const bundle: WorkflowBundle = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  await Worker.runReplayHistory({ workflowBundle: bundle }, load(history), 'transfer/trf_recorded');
}
