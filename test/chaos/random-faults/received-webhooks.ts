import { verifyWebhook } from '../../../client/src/index.js';
import { nameOf } from './requests.js';
import type { ChaosCluster } from './cluster.js';

/** What tenants were told. */
export type ReceivedWebhooks = {
  /** How often the tenant of this id heard this event of this resource: under how many ids. */
  times(tenantId: string, resource: string, event: string): number;
  /**
   * Of these records those of whose last state their tenant was never told, or was told what is not so, or of which
   * others were told; in plain words.
   */
  wrong(what: string, records: readonly EndedRecord[]): string[];
  problems: string[];
};

/** `_id`: what its events call it. `endings`: what it may have come to before, and went on from. */
type EndedRecord = { _id: string; tenant_id: string; status: string; endings?: readonly string[] };

const ENDINGS = ['completed', 'failed', 'reversed'];
/** Where an event has a name of its own for a state. */
const STATE_OF: Record<string, string> = { reversed: 'failed', unlocked: 'active' };

function stateIn(event: string): string {
  const said = event.slice(event.lastIndexOf('.') + 1);
  return STATE_OF[said] ?? said;
}

/** Messages of the whole random-fault run are read at its end. */
const ANY_AGE = { toleranceSeconds: 24 * 60 * 60 };

/** What happens to one resource again and again. All else happens to it once, as no operator in the random-fault run adopts anything. */
const RECURS = /^(?:card\.locked|card\.unlocked|recurring_charge\..+)$/;

type Ids = Map<string, Set<string>>;

/**
 * Reads all that the receiver got: each message is signed by the secret of its tenant, each event has one id, each id the
 * same bytes, and each number in the sequence of a resource is one event.
 */
export async function readReceivedWebhooks({
  receiver,
  tenants,
}: ChaosCluster): Promise<ReceivedWebhooks> {
  const problems: string[] = [];
  const events: Ids = new Map();
  const numbers: Ids = new Map();
  const bodies: Ids = new Map();
  const hearers: Ids = new Map();
  const secrets = new Map(tenants.map(({ hook, secret }) => [hook, secret]));
  const hooks = new Map(tenants.map(({ hook, tenant }) => [tenant.id, hook]));
  for (const { path, headers, body } of receiver.received) {
    const named = String(headers['webhook-id']);
    const event = await verifyWebhook(secrets.get(path) ?? '', headers, body, ANY_AGE).catch(
      (error: unknown) =>
        void problems.push(`${named} to ${path} does not verify: ${String(error)}`),
    );
    if (!event) continue;
    const resource = `${path} ${nameOf(event.data)}`;
    note(events, `${resource} ${event.event}`, event.id);
    note(numbers, `${resource} event number ${event.sequence}`, event.id);
    note(bodies, event.id, body);
    note(hearers, nameOf(event.data), path);
    const { status } = event.data as { status?: string };
    if (status !== stateIn(event.event)) {
      problems.push(`${event.id} is ${event.event} of what is ${status}`);
    }
    if (named !== event.id) problems.push(`${event.id} came as ${named}`);
  }
  const twice = severalOf(events).filter(([what]) => !RECURS.test(eventIn(what)));
  const times: ReceivedWebhooks['times'] = (tenantId, resource, event) =>
    events.get(`${hooks.get(tenantId)} ${resource} ${event}`)?.size ?? 0;
  return {
    times,
    wrong: wrongOf(times, ({ _id, tenant_id: tenantId }) =>
      [...(hearers.get(_id) ?? [])].filter((path) => path !== hooks.get(tenantId)),
    ),
    problems: [
      ...problems,
      ...[...twice, ...severalOf(numbers)].map(
        ([what, ids]) => `${what} was told as ${ids.size} events: ${[...ids].join(', ')}`,
      ),
      ...severalOf(bodies).map(([id]) => `${id} came with different bytes`),
    ],
  };
}

/** `others`: who has heard of a record that is not theirs. */
function wrongOf(
  times: ReceivedWebhooks['times'],
  others: (record: EndedRecord) => string[],
): ReceivedWebhooks['wrong'] {
  return (what, records) =>
    records.flatMap((record) => {
      const { _id, tenant_id: tenantId, status, endings = [] } = record;
      const isTold = (ending: string) => times(tenantId, _id, `${what}.${ending}`) > 0;
      const never = ENDINGS.filter((each) => each !== status && !endings.includes(each));
      return [
        ...(isTold(status) ? [] : [`nobody was told that ${what} ${_id} is ${status}`]),
        ...never
          .filter(isTold)
          .map((each) => `${what} ${_id} is ${status}, and was told as ${each}`),
        ...others(record).map((path) => `${path} was told of ${what} ${_id} of ${tenantId}`),
      ];
    });
}

function note(ids: Ids, key: string, id: string): void {
  ids.set(key, (ids.get(key) ?? new Set()).add(id));
}

const severalOf = (ids: Ids) => [...ids].filter(([, { size }]) => size > 1);

const eventIn = (what: string) => what.slice(what.lastIndexOf(' ') + 1);
