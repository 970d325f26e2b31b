// Collects workflow histories for test/replay from any Temporal server that has run this code, for example that of a test run:
//   node scripts/collect-histories.mjs --address HOST:PORT --namespace NAME [--shapes N] [--folder test/replay/histories]
// Saves up to N histories of each workflow type that differ in their shape: the sequence of activities, timers, signals,
// updates and markers. A history whose shape is saved already is skipped, so that the script may run again and again.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const { values } = parseArgs({
  options: {
    address: { type: 'string' },
    namespace: { type: 'string', default: 'bursar-sandbox' },
    shapes: { type: 'string', default: '6' },
    folder: { type: 'string', default: join('test', 'replay', 'histories') },
  },
});

const kebab = (type) => type.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Returns the steps of a history, without ids, times and payloads. Local activities are markers. */
function shapeOf({ events = [] }) {
  const steps = events.flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const marker = event.markerRecordedEventAttributes;
    const signal = event.workflowExecutionSignaledEventAttributes;
    const update = event.workflowExecutionUpdateAcceptedEventAttributes;
    if (scheduled) return [`activity ${scheduled.activityType?.name}`];
    if (marker) return [`marker ${localActivity(marker) ?? marker.markerName}`];
    if (signal) return [`signal ${signal.signalName}`];
    if (update) return [`update ${update.acceptedRequest?.input?.name}`];
    if (event.timerStartedEventAttributes) return ['timer'];
    if (event.activityTaskFailedEventAttributes) return ['activity failed'];
    return [];
  });
  return createHash('sha256').update(steps.join('\n')).digest('hex').slice(0, 12);
}

/** Returns the type of a local activity, from the data of its marker. */
function localActivity({ details }) {
  const [payload] = details?.data?.payloads ?? [];
  if (!payload?.data) return null;
  return JSON.parse(Buffer.from(payload.data, 'base64').toString('utf8')).activity_type ?? null;
}

mkdirSync(values.folder, { recursive: true });
const saved = new Map();
for (const file of readdirSync(values.folder).filter((name) => name.endsWith('.json'))) {
  const history = JSON.parse(readFileSync(join(values.folder, file), 'utf8'));
  const type = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name;
  if (type) saved.set(type, (saved.get(type) ?? new Set()).add(shapeOf(history)));
}

const connection = await Connection.connect({ address: values.address });
const client = new Client({ connection, namespace: values.namespace });
for await (const { type, workflowId, runId, status } of client.workflow.list()) {
  const shapes = saved.get(type) ?? new Set();
  if (status.name === 'RUNNING' || shapes.size >= Number(values.shapes)) continue;
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const json = historyToJSON(history);
  const shape = shapeOf(JSON.parse(json));
  const file = join(values.folder, `${kebab(type)}-${shape}.json`);
  if (shapes.has(shape) || existsSync(file)) continue;
  saved.set(type, shapes.add(shape));
  writeFileSync(file, `${json}\n`);
  console.log(`saved ${file}: ${history.events.length} events`);
}
await connection.close();
