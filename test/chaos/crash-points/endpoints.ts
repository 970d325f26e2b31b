import { eventually } from '../../support/eventually.js';
import type { WebhookView } from '../../support/receiver.js';
import type { EndpointDocument } from '../../../src/core/webhooks/endpoints.js';
import type { Case } from './capability.js';
import type { Cluster } from './cluster.js';

const EVENTS = ['transfer.completed', 'transfer.processing'];
const DAY_MS = 24 * 60 * 60 * 1000;

/** The id of the only endpoint of the tenant. */
async function endpointOf({ service, tenant }: Cluster): Promise<string> {
  const [endpoint] = await service.deps.webhooks.endpoints.list(tenant.id);
  return String(endpoint?.id);
}

/** Waits until the endpoint fails, makes that last for a month, and waits until it is parked. */
async function isParked({ service }: Cluster, endpoint: string): Promise<void> {
  const endpoints = service.deps.database.db.collection<EndpointDocument>('webhook_endpoints');
  const since = new Date(Date.now() - 30 * DAY_MS);
  await eventually('the endpoint is parked', async () => {
    // A round in progress may write the time that it has read.
    const failing = { _id: endpoint, status: 'enabled', failing: { $ne: null } } as const;
    await endpoints.updateOne(failing, { $set: { 'failing.since': since } });
    return (await endpoints.findOne({ _id: endpoint }))?.status === 'parked' ? true : undefined;
  });
}

/** Both events of the transfer, which the endpoint has refused so far, reach it after it was resumed, and nothing is left. */
async function getsAll(
  cluster: Cluster,
  id: string,
  resume: () => Promise<unknown>,
): Promise<void> {
  const { receiver } = cluster;
  const refused = receiver.received.length;
  receiver.behave(204);
  await resume();
  await cluster.isQuiet();
  const taken = receiver.received.slice(refused).map(({ body }) => JSON.parse(body) as WebhookView);
  const events = taken.filter(({ data }) => data.id === id).map(({ event }) => event);
  expect(new Set(events)).toEqual(new Set(EVENTS));
  // A repeat of an event has the id of the first one.
  await cluster.isNotified(id, EVENTS);
  await cluster.isQuiet();
}

const parking = (point: string): Case => ({
  name: `an endpoint that fails until it is parked: the worker dies at ${point}`,
  async run(cluster) {
    const endpoint = await endpointOf(cluster);
    cluster.receiver.behave(500);
    const id = await cluster.dies([{ who: 'worker', point }], () => cluster.tenant.send());
    await cluster.tenant.waitFor(id, 'completed');
    await isParked(cluster, endpoint);
    const { webhooks } = cluster.service.deps;
    await getsAll(cluster, id, () => webhooks.resumeEndpoint(endpoint));
  },
});

const resuming = (point: string): Case => ({
  name: `a parked endpoint that an operator resumes: the worker dies at ${point}`,
  async run(cluster) {
    const endpoint = await endpointOf(cluster);
    cluster.receiver.behave(500);
    const id = await cluster.tenant.send();
    await cluster.tenant.waitFor(id, 'completed');
    await isParked(cluster, endpoint);
    const { webhooks } = cluster.service.deps;
    await getsAll(cluster, id, () =>
      cluster.dies([{ who: 'worker', point }], () => webhooks.resumeEndpoint(endpoint)),
    );
  },
});

const POINTS = ['start.before', 'start.after', 'webhook.before', 'webhook.after'];

export const endpoints: Case[] = [
  // The third attempt is the first one of the endpoint's own workflow.
  ...[...POINTS, 'webhook.before:3', 'webhook.after:3'].map(parking),
  ...POINTS.map(resuming),
];
