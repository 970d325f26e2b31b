import { createHash, randomUUID } from 'node:crypto';
import type { ProviderEvent } from '../../../../src/core/provider-events/event.js';
import { callbackSender } from '../../../support/callbacks.js';
import type { Workload } from '../workload.js';
import type { Random } from '../random.js';
import type { ChaosCluster } from '../cluster.js';
import { untilDone } from './choosing.js';

const keyOf = (id: string) => createHash('sha256').update(`sandbox-bank/${id}`).digest('hex');

/** Messages of the bank in a format that no adapter knows, some of them sent again, and their replays by operators. */
export function createMessages(cluster: ChaosCluster, random: Random): Workload {
  const { service } = cluster;
  const events = service.deps.database.db.collection<ProviderEvent>('provider_events');
  const callbacks = callbackSender(service);
  const sent: string[] = [];
  let replayed = 0;

  const find = (id: string) => events.find({ dedupe_key: keyOf(id) }).toArray();

  async function send(): Promise<void> {
    const id = `evt_${randomUUID()}`;
    const body = JSON.stringify({
      id,
      event: 'transfer.credited_v2',
      occurred_at: new Date().toISOString(),
      data: { reference: `trf_${randomUUID()}`, value: { minor: '150000' } },
    });
    const post = async () => {
      const { status } = await callbacks.post(body, { api: random.pick(service.apis).url });
      return status === 200 ? true : null;
    };
    if (await untilDone(cluster, random, post)) sent.push(id);
    if (random.chance(0.3)) await untilDone(cluster, random, post);
  }

  /** An operator replays a message, which is still unreadable. */
  async function replay(): Promise<void> {
    const [event] = await find(random.pick(sent));
    if (!event) return;
    const { providerEvents } = service.deps;
    await providerEvents.replay(await providerEvents.withOwner(event, true), null);
    replayed += 1;
  }

  return {
    name: 'messages',
    weight: 0.5,
    act: () => (sent.length > 0 && random.chance(0.4) ? replay().catch(() => undefined) : send()),
    check: async () => {
      const problems: string[] = [];
      for (const event of sent) {
        const stored = await find(event);
        const [one] = stored;
        if (stored.length !== 1 || !one) {
          problems.push(`${event} is stored ${stored.length} times`);
        } else if (one.status !== 'failed' || one.attention === null) {
          problems.push(`${event} is ${one.status}, and no operator is called`);
        }
      }
      return problems;
    },
    figures: () => ({ unreadable: sent.length, replayed }),
    problems: [],
  };
}
