import { Client, type Connection, isGrpcServiceError } from '@temporalio/client';
import type { Config } from '../../shared/config.js';
import { createConnection } from '../../platform/temporal/client.js';
import {
  findSearchAttributeProblems,
  namespaceCommand,
  searchAttributesCommand,
} from '../../platform/temporal/namespace.js';
import { ACTIVITY_TASKS, pollersOf, WORKFLOW_TASKS } from '../../platform/temporal/pollers.js';
import {
  hasWorkflows,
  queuesOf,
  type RateLimit,
  type Queue,
} from '../../platform/temporal/queues.js';
import { duration, examine, pass, fail, type Check } from './check.js';

const WITHIN_MS = 4_000;
const GRPC_NOT_FOUND = 5;

/** Checks Temporal, its namespace and the workers. If the server does not answer, that is the only result. */
export async function examineTemporal(
  { temporal }: Config,
  providers: readonly RateLimit[],
): Promise<Check[]> {
  const { address, connection: options, namespace, taskQueue, registers } = temporal;
  const { connection, close } = createConnection(options, WITHIN_MS);
  try {
    const hint = 'start it, or correct TEMPORAL_ADDRESS; transfers are accepted meanwhile and wait';
    const reached = await examine('temporal', hint, async () => {
      await connection.ensureConnected();
      return pass(`answers at ${address}`);
    });
    if (!reached.ok) return [reached];
    const found = await examineNamespace(connection, { namespace, registers });
    if (!found.ok) return [reached, found];
    const rest = [
      examineSearchAttributes(connection, { namespace, registers }),
      examineSchedules(connection, { namespace, taskQueue }),
      ...queuesOf(taskQueue, providers).map((queue) => examineQueue(connection, namespace, queue)),
    ];
    return [reached, found, ...(await Promise.all(rest))];
  } finally {
    await close();
  }
}

type Registration = { namespace: string; registers: boolean };

function examineNamespace(
  connection: Connection,
  { namespace, registers }: Registration,
): Promise<Check> {
  const how = registers
    ? 'start a worker, which registers it'
    : `an administrator runs: ${namespaceCommand(namespace)}`;
  const hint = `${how}; or correct TEMPORAL_NAMESPACE`;
  return examine('temporal: namespace', hint, async () => {
    try {
      await connection.workflowService.describeNamespace({ namespace });
      return pass(namespace);
    } catch (error) {
      if (!isGrpcServiceError(error) || error.code !== GRPC_NOT_FOUND) throw error;
      return fail(`there is none called ${namespace}`, hint);
    }
  });
}

function examineSearchAttributes(
  connection: Connection,
  { namespace, registers }: Registration,
): Promise<Check> {
  const hint = 'see the log of Temporal';
  return examine('temporal: search attributes', hint, async () => {
    const { missing, wrong: other } = await findSearchAttributeProblems(connection, namespace);
    if (other.length > 0) {
      const detail = `of a wrong type: ${other.join(', ')}`;
      return fail(detail, 'use a namespace for Bursar alone, or remove them from this one');
    }
    if (missing.length === 0) return pass('registered');
    return fail(
      `not registered: ${missing.join(', ')}`,
      registers
        ? 'start a worker, which registers them'
        : `an administrator runs: ${searchAttributesCommand(namespace, missing)}`,
    );
  });
}

/** A worker keeps an operator's pause. Without their runs nothing finds what a lost message would have told. */
function examineSchedules(
  connection: Connection,
  { namespace, taskQueue }: { namespace: string; taskQueue: string },
): Promise<Check> {
  const hint = 'unpause it in the Temporal UI (Schedules) when the reason for its pause is over';
  return examine('temporal: schedules', hint, async () => {
    const { schedule } = new Client({ connection, namespace });
    const paused: string[] = [];
    for await (const { scheduleId } of schedule.list({ query: 'TemporalSchedulePaused = true' })) {
      // <name>/<task queue>, and often what it is about. Other deployments may use the same namespace.
      if (`${scheduleId}/`.includes(`/${taskQueue}/`)) paused.push(scheduleId);
    }
    return paused.length > 0
      ? fail(`paused: ${paused.toSorted().join(', ')}`, hint)
      : pass('none is paused');
  });
}

function examineQueue(
  connection: Connection,
  namespace: string,
  queue: Queue<unknown>,
): Promise<Check> {
  const hint = 'start a worker with this BURSAR_TASK_QUEUE, or check its log';
  return examine(`worker: ${queue.name}`, hint, async () => {
    const kinds = hasWorkflows(queue) ? [WORKFLOW_TASKS, ACTIVITY_TASKS] : [ACTIVITY_TASKS];
    const found = await Promise.all(
      kinds.map((taskQueueType) => pollersOf(connection, namespace, queue.name, taskQueueType)),
    );
    const fewest = Math.min(...found.map(({ alive }) => alive));
    if (fewest > 0) return pass(fewest === 1 ? '1 process' : `${fewest} processes`);
    const lastMs = Math.max(...found.map(({ lastMs }) => lastMs));
    if (lastMs === 0) return fail('no process works on it', hint);
    return fail(
      `no process works on it; the last one polled ${duration(Date.now() - lastMs)} ago`,
      hint,
    );
  });
}
