/**
 * The worker of the bare workflow. It has one task queue, so the server can hand over the activity in the cheapest
 * way.
 */
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { loadConfig } from '../../../src/shared/config.js';
import { armFailpoint } from '../../../src/shared/failpoints.js';
import { createProviders } from '../../../src/composition/providers.js';
import { MAX_WORKFLOW_TASKS } from '../../../worker/worker.js';
import { createPeerActivities } from './activities.js';

const config = loadConfig();
armFailpoint(config.failpoint);
const { address, namespace } = config.temporal;
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue: process.env['BENCH_PEER_QUEUE'] ?? '',
  workflowsPath: fileURLToPath(new URL('./workflow.js', import.meta.url)),
  activities: createPeerActivities(createProviders(config).forTransfers()),
  // The same as Bursar's worker.
  maxCachedWorkflows: 1_000,
  maxConcurrentWorkflowTaskExecutions: MAX_WORKFLOW_TASKS,
  maxConcurrentActivityTaskExecutions: 200,
});
await worker.run();
await connection.close();
