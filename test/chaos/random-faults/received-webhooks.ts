import { verifyWebhook } from '../../../client/src/index.js';
import { nameOf } from './requests.js';
import type { ChaosCluster } from './cluster.js';

/** Webhooks that the tenants' receiver got. */
export type ReceivedWebhooks = {
  /** Number of distinct event ids under which a tenant received this event of this resource. */
  times(tenantId: string, resource: string, event: string): number;
  /**
   * Problems of these records: no event for the last state, an event for a state that the record never had, or an event
   * that another tenant received.
   */
  wrong(what: string, records: readonly EndedRecord[]): string[];
  /** A problem for each event of these resources, from the first to the latest, that their tenants did not receive. */
  missing(resources: readonly NumberedResource[]): string[];
  problems: string[];
};

/** A resource that numbers its events from 1 on. */
type NumberedResource = { _id: string; tenant_id: string; event_sequence: number };

/** `_id` is the resource's id in its events. `endings` are earlier terminal states that the record has left again. */
type EndedRecord = { _id: string; tenant_id: string; status: string; endings?: readonly string[] };

const ENDINGS = ['completed', 'failed', 'reversed'];
/** States of events whose name differs from the state. */
const STATE_OF: Record<string, string> = {
  reversed: 'failed',
  unlocked: 'active',
  issued: 'active',
  created: 'active',
  deposit_suspended: 'suspended',
  deposit_reversed: 'reversed',
  disputed: 'open',
  dispute_won: 'won',
  dispute_lost: 'lost',
};

function stateIn(event: string): string {
  if (/^card\.dispute\.(?:opened|credited|cancellation_refused)$/.test(event)) return 'open';
  const said = event.slice(event.lastIndexOf('.') + 1);
  return STATE_OF[said] ?? said;
}

/** Messages of the whole random-fault run are read at its end. */
const ANY_AGE = { toleranceSeconds: 24 * 60 * 60 };

/** Events that one resource may have many times. Others occur once, as no operator debits suspense in the random-fault run. */
const RECURS =
  /^(?:card\.locked|card\.unlocked|card\.authorization\..+|card\.auto_reload\..+|card\.dispute\.(?:credited|cancellation_refused)|recurring_charge\..+|payment_token\..+)$/;
/** Events about a part of their resource, in the order of arrival: its status follows from all of them, or from others. */
const OF_PARTS = /^(?:card\.authorization|card\.auto_reload|payment_token|recurring_charge)\./;

/** The event of a check's end, whatever its result, and the results. */
const CHECKED = new Set(['kyc.completed']);
const CHECK_RESULTS = new Set(['verified', 'rejected', 'failed']);

type Ids = Map<string, Set<string>>;

/**
 * Reads all messages of the receiver. Each message must be signed with its tenant's secret, each event must have one id,
 * each id the same bytes, and each sequence number of a resource one event.
 */
export async function readReceivedWebhooks({
  receiver,
  tenants,
}: ChaosCluster): Promise<ReceivedWebhooks> {
  const problems: string[] = [];
  const events: Ids = new Map();
  const numbers: Ids = new Map();
  const bodies: Ids = new Map();
  const receivers: Ids = new Map();
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
    note(receivers, nameOf(event.data), path);
    const { status } = event.data as { status?: string };
    const fits = CHECKED.has(event.event)
      ? CHECK_RESULTS.has(String(status))
      : status === stateIn(event.event);
    if (!OF_PARTS.test(event.event) && !fits) {
      problems.push(`${event.id} is ${event.event} of what is ${status}`);
    }
    if (named !== event.id) problems.push(`${event.id} came as ${named}`);
  }
  const twice = severalOf(events).filter(([what]) => !RECURS.test(eventIn(what)));
  const times: ReceivedWebhooks['times'] = (tenantId, resource, event) =>
    events.get(`${hooks.get(tenantId)} ${resource} ${event}`)?.size ?? 0;
  return {
    times,
    missing: (resources) =>
      resources.flatMap(({ _id, tenant_id: tenantId, event_sequence: latest }) => {
        const resource = `${hooks.get(tenantId)} ${_id}`;
        return Array.from({ length: latest }, (_, i) => i + 1)
          .filter((number) => !numbers.has(`${resource} event number ${number}`))
          .map((number) => `no webhook has event ${number} of the ${latest} of ${_id}`);
      }),
    wrong: wrongOf(times, ({ _id, tenant_id: tenantId }) =>
      [...(receivers.get(_id) ?? [])].filter((path) => path !== hooks.get(tenantId)),
    ),
    problems: [
      ...problems,
      ...[...twice, ...severalOf(numbers)].map(
        ([what, ids]) => `${what} was emitted as ${ids.size} events: ${[...ids].join(', ')}`,
      ),
      ...severalOf(bodies).map(([id]) => `${id} came with different bytes`),
    ],
  };
}

/** `others` returns the receivers that got events of another tenant's record. */
function wrongOf(
  times: ReceivedWebhooks['times'],
  others: (record: EndedRecord) => string[],
): ReceivedWebhooks['wrong'] {
  return (what, records) =>
    records.flatMap((record) => {
      const { _id, tenant_id: tenantId, status, endings = [] } = record;
      const isEmitted = (ending: string) => times(tenantId, _id, `${what}.${ending}`) > 0;
      const never = ENDINGS.filter((each) => each !== status && !endings.includes(each));
      return [
        ...(isEmitted(status) ? [] : [`no webhook says that ${what} ${_id} is ${status}`]),
        ...never
          .filter(isEmitted)
          .map((each) => `${what} ${_id} is ${status}, and a webhook says ${each}`),
        ...others(record).map(
          (path) => `${path} received a webhook of ${what} ${_id} of ${tenantId}`,
        ),
      ];
    });
}

function note(ids: Ids, key: string, id: string): void {
  ids.set(key, (ids.get(key) ?? new Set()).add(id));
}

const severalOf = (ids: Ids) => [...ids].filter(([, { size }]) => size > 1);

const eventIn = (what: string) => what.slice(what.lastIndexOf(' ') + 1);
