import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import type { Reply } from '../../support/tenant.js';
import { openCluster, TRIES, type Death, type TenantRequest, type Cluster } from './cluster.js';

/** One or several crashes of a process, and the checks that must hold afterwards. */
export type Case = { name: string; run: (cluster: Cluster) => Promise<void> };

/** The same request at a provider that executes it, rejects it, or executes it and never answers. */
export type Outcome = {
  name: string;
  suffix: string;
  status: 'completed' | 'failed';
  times: 0 | 1;
};

export const PAID: Outcome = { name: 'done', suffix: '789', status: 'completed', times: 1 };
export const REFUSED: Outcome = { name: 'refused', suffix: '002', status: 'failed', times: 0 };
export const UNANSWERED: Outcome = { ...PAID, name: 'done, never answered', suffix: '004' };
export const OUTCOMES: readonly Outcome[] = [PAID, REFUSED, UNANSWERED];

export type NewRequest = Omit<TenantRequest, 'key'>;

/** The API dies with a stored provider event, and then the worker that takes the event over. */
export const afterReceiver = (point: string): readonly Death[] => [
  { who: 'api', point: 'provider_event.stored' },
  { who: 'worker', point },
];

/** The deaths around a provider event that alone reports an outcome. */
export const EVENT_DEATHS: readonly (readonly Death[])[] = [
  [{ who: 'api', point: 'provider_event.stored' }],
  [{ who: 'api', point: 'provider_event.applied' }],
  afterReceiver('provider_event.applied'),
];

/** The deaths around the commit that books what a provider event alone reports. */
export const BOOKING_DEATHS: readonly (readonly Death[])[] = [
  [{ who: 'api', point: 'commit.before' }],
  [{ who: 'api', point: 'commit.after' }],
  afterReceiver('commit.after'),
];

/** A case with other settings, on a cluster of its own. The points that fire there count. */
export const elsewhere = (
  name: string,
  env: Record<string, string>,
  run: (own: Cluster) => Promise<void>,
): Case => ({
  name,
  async run(cluster) {
    const own = await openCluster(env);
    try {
      await run(own);
      for (const point of own.fired) cluster.fired.add(point);
    } finally {
      await own.close();
    }
  },
});

/** The deaths of a case, for its name. */
export const namesOf = (deaths: readonly Death[]) =>
  deaths.map(({ who, point }) => `the ${who} dies at ${point}`).join(', ');

/** A request of a tenant, and the outcome that it must reach. */
export type Capability = {
  name: string;
  outcomes: readonly Outcome[];
  newRequest: (cluster: Cluster, outcome: Outcome) => Promise<NewRequest> | NewRequest;
  isRight: (cluster: Cluster, data: Reply['body']['data'], outcome: Outcome) => Promise<void>;
  /** True if the request reached the situation under test. On a slow machine it may not; then another one is sent. */
  isReached?: (cluster: Cluster, data: Reply['body']['data']) => Promise<boolean>;
  /** Runs once a request is sent at which the API dies. */
  meanwhile?: (cluster: Cluster) => Promise<void>;
  points: Points;
};

export type Points = {
  api: readonly string[];
  worker: readonly string[];
  /** Points of a worker that must verify an instruction because the provider never answered. */
  unanswered: readonly string[];
  /** Points of the worker's dispatcher after an API died before it started the workflow. */
  dispatcher: readonly string[];
};

export const API_POINTS = [
  'claim.written',
  'commit.before',
  'commit.after',
  'start.before',
  'start.after',
];
export const DISPATCH_POINTS = [
  'dispatch.claimed',
  'start.before',
  'start.after',
  'dispatch.started',
];
export const VERIFY_POINTS = ['verify.before', 'verify.answered'];

/** Failpoints that an instruction passes, in sequence. The last commit stores its outcome and emits an event. */
export const instructionPoints = ({ commits = 1, events = 1 } = {}) => [
  'submit.permitted',
  'submit.answered',
  'outcome.before',
  ...nth('commit.before', commits),
  ...nth('commit.after', commits),
  'outcome.after',
  ...nth('webhook.before', events),
  ...nth('webhook.after', events),
];

/** Points of a record with one submission, one outcome and one event. Transfers cover the other points. */
export const POINTS: Points = {
  api: ['claim.written', 'commit.before', 'commit.after', 'start.after'],
  worker: instructionPoints(),
  unanswered: VERIFY_POINTS,
  dispatcher: ['dispatch.started'],
};

function nth(point: string, times: number): string[] {
  return Array.from({ length: times }, (_, i) => (i === 0 ? point : `${point}:${i + 1}`));
}

/** Rejects a pending request at the provider, once it has arrived there. `reject` returns the HTTP status of that call. */
export const refusedOnceThere = (reject: () => Promise<number>): Promise<true> =>
  eventually('the provider has the request', async () =>
    (await reject()) < 300 ? true : undefined,
  );

/** One case for each pair of a point and an outcome. */
export function casesOf(capability: Capability): Case[] {
  const { name, outcomes, points } = capability;
  return outcomes.flatMap((outcome) => {
    const one = (who: string, point: string, run: Case['run']): Case => ({
      name: `${name}, ${outcome.name}: ${who} dies at ${point}`,
      run,
    });
    const unanswered = outcome.name === UNANSWERED.name ? points.unanswered : [];
    return [
      ...points.api.map((point) => one('the API', point, apiDies(capability, outcome, point))),
      ...[...points.worker, ...unanswered].map((point) =>
        one('the worker', point, workerDies(capability, outcome, point, false)),
      ),
      ...points.dispatcher.map((point) =>
        one('the API, and the dispatcher', point, workerDies(capability, outcome, point, true)),
      ),
    ];
  });
}

/** Sends new requests until one reaches the situation under test. */
async function untilReached<Answer extends Reply | null>(
  { isReached }: Capability,
  cluster: Cluster,
  post: (tries: number) => Promise<Answer>,
): Promise<Answer> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const reply = await post(tries);
    if (!reply || !isReached || (await isReached(cluster, reply.body.data))) return reply;
  }
  throw new Error(`sent ${TRIES} requests, and none reached the situation under test`);
}

/** A request that is repeated under its key returns the same record, even if the API died before it answered. */
function apiDies(capability: Capability, outcome: Outcome, point: string): Case['run'] {
  return async (cluster) => {
    const repeat = await untilReached(capability, cluster, async () => {
      const request = { ...(await capability.newRequest(cluster, outcome)), key: randomUUID() };
      const first = await cluster.dies([{ who: 'api', point }], async () => {
        const sent = cluster.post(request).catch(() => null);
        await capability.meanwhile?.(cluster);
        return sent;
      });
      const reply = await cluster.post(request);
      expect(reply.status).toBe(201);
      if (first) expect(reply.text).toBe(first.text);
      return reply;
    });
    await isRight(capability, cluster, repeat, outcome);
  };
}

function workerDies(
  capability: Capability,
  outcome: Outcome,
  point: string,
  unstarted: boolean,
): Case['run'] {
  return async (cluster) => {
    const api = unstarted ? [{ who: 'api', point: 'start.before' } as const] : [];
    const newRequest = async () => ({
      ...(await capability.newRequest(cluster, outcome)),
      key: randomUUID(),
    });
    // The preparation of the request ends before the failpoint is armed.
    let request = await newRequest();
    const first = await cluster.dies([...api, { who: 'worker', point }], () =>
      untilReached(capability, cluster, async (tries) => {
        if (tries > 0) request = await newRequest();
        return cluster.post(request).catch(() => null);
      }),
    );
    const reply = accepted(unstarted ? await cluster.post(request) : first);
    await isRight(capability, cluster, reply, outcome);
  };
}

function accepted(reply: Reply | null): Reply {
  if (reply?.status !== 201) throw new Error(`not accepted: ${reply?.status} ${reply?.text}`);
  return reply;
}

async function isRight(
  { isRight: isAsWanted }: Capability,
  cluster: Cluster,
  { body }: Reply,
  outcome: Outcome,
): Promise<void> {
  await isAsWanted(cluster, body.data, outcome);
  await cluster.isQuiet();
}
