import { verifyWebhook } from '../../client/src/index.js';
import { nameOf } from './asking.js';
import type { StormStage, StormTenant } from './stage.js';

/** What tenants were told. */
export type Told = {
  /** Whether this tenant heard this event of this resource. */
  has(of: StormTenant, resource: string, event: string): boolean;
  problems: string[];
};

/** Messages of the whole storm are read at its end. */
const ANY_AGE = { toleranceSeconds: 24 * 60 * 60 };

/** Reads all that the receiver got: each message is signed by the secret of its tenant, each event has one id. */
export async function readTold({ receiver, tenants }: StormStage): Promise<Told> {
  const problems: string[] = [];
  const ids = new Map<string, Set<string>>();
  const told = new Set<string>();
  const secrets = new Map(tenants.map(({ hook, secret }) => [hook, secret]));
  for (const { path, headers, body } of receiver.received) {
    const event = await verifyWebhook(secrets.get(path) ?? '', headers, body, ANY_AGE).catch(
      (error: unknown) => void problems.push(`a webhook does not verify: ${String(error)}`),
    );
    if (!event) continue;
    const id = nameOf(event.data);
    told.add(`${path} ${id} ${event.event}`);
    // One resource may have an event of the same name again, as another number in its sequence.
    const key = `${id} ${event.event} ${event.sequence}`;
    ids.set(key, (ids.get(key) ?? new Set()).add(event.id));
    if (headers['webhook-id'] !== event.id) problems.push(`${event.id} came under another id`);
  }
  for (const [key, of] of ids) {
    if (of.size > 1) problems.push(`${key} was told as ${of.size} events`);
  }
  return {
    has: ({ hook }, resource, event) => told.has(`${hook} ${resource} ${event}`),
    problems,
  };
}
