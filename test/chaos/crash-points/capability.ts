import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import type { Reply } from '../../support/tenant.js';
import type { Death, TenantRequest, Cluster } from './cluster.js';

/** One death, or several, and what has to be right after it. */
export type Case = { name: string; run: (cluster: Cluster) => Promise<void> };

/** The same order at providers that do it, refuse it, or do it and never say so. */
export type Outcome = { name: string; suffix: string; ends: 'completed' | 'failed'; times: 0 | 1 };

export const PAID: Outcome = { name: 'done', suffix: '789', ends: 'completed', times: 1 };
export const REFUSED: Outcome = { name: 'refused', suffix: '002', ends: 'failed', times: 0 };
export const UNANSWERED: Outcome = { ...PAID, name: 'done, never answered', suffix: '004' };
export const OUTCOMES: readonly Outcome[] = [PAID, REFUSED, UNANSWERED];

export type Order = Omit<TenantRequest, 'key'>;

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

/** The deaths of a case, for its name. */
export const namesOf = (deaths: readonly Death[]) =>
  deaths.map(({ who, point }) => `the ${who} dies at ${point}`).join(', ');

/** What a tenant asks for, and how it has to end. */
export type Capability = {
  name: string;
  outcomes: readonly Outcome[];
  ask: (cluster: Cluster, outcome: Outcome) => Promise<Order> | Order;
  isRight: (cluster: Cluster, data: Reply['body']['data'], outcome: Outcome) => Promise<void>;
  /** Whether it has come to what this is about: on a slow machine another has to be asked for. */
  isReached?: (cluster: Cluster, data: Reply['body']['data']) => Promise<boolean>;
  points: Points;
};

export type Points = {
  api: readonly string[];
  worker: readonly string[];
  /** Of the worker, too, where it is the one that asks what became of an order. */
  unanswered: readonly string[];
  /** Of the worker's dispatcher, where the API died before it started the workflow. */
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
  'dispatch.found',
  'start.before',
  'start.after',
  'dispatch.started',
];
export const VERIFY_POINTS = ['verify.before', 'verify.answered'];

/** What the instruction of a record leads past, in its order: its end is the last commit, and is told. */
export const instructionPoints = ({ commits = 1, told = 1 } = {}) => [
  'submit.permitted',
  'submit.answered',
  'outcome.before',
  ...nth('commit.before', commits),
  ...nth('commit.after', commits),
  'outcome.after',
  ...nth('webhook.before', told),
  ...nth('webhook.after', told),
];

/** Of a record that is sent, settled and told of once; the rest of an API's and a dispatcher's way is that of transfers. */
export const POINTS: Points = {
  api: ['claim.written', 'commit.before', 'commit.after', 'start.after'],
  worker: instructionPoints(),
  unanswered: VERIFY_POINTS,
  dispatcher: ['dispatch.started'],
};

function nth(point: string, times: number): string[] {
  return Array.from({ length: times }, (_, i) => (i === 0 ? point : `${point}:${i + 1}`));
}

/** Has a provider refuse what it keeps pending, once it has the order. `tell` answers with the status of that. */
export const refusedOnceThere = (tell: () => Promise<number>): Promise<true> =>
  eventually('the provider has the order', async () => ((await tell()) < 300 ? true : undefined));

/** Each of its points, with each outcome. */
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

/** So often, and then it is no slow machine: what a case is about has to come about. */
export const TRIES = 8;

/** Asks, each time for another one, until it has come to what this is about. */
async function untilReached<Answer extends Reply | null>(
  { isReached }: Capability,
  cluster: Cluster,
  ask: (tries: number) => Promise<Answer>,
): Promise<Answer> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const reply = await ask(tries);
    if (!reply || !isReached || (await isReached(cluster, reply.body.data))) return reply;
  }
  throw new Error(`asked ${TRIES} times, and it never came to what this is about`);
}

/** Whether it has answered before it died or not: the same order under the same key is the same order. */
function apiDies(capability: Capability, outcome: Outcome, point: string): Case['run'] {
  return async (cluster) => {
    const again = await untilReached(capability, cluster, async () => {
      const asked = { ...(await capability.ask(cluster, outcome)), key: randomUUID() };
      const first = await cluster.dies([{ who: 'api', point }], () =>
        cluster.post(asked).catch(() => null),
      );
      const reply = await cluster.post(asked);
      expect(reply.status).toBe(201);
      if (first) expect(reply.text).toBe(first.text);
      return reply;
    });
    await isRight(capability, cluster, again, outcome);
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
    const ask = async () => ({ ...(await capability.ask(cluster, outcome)), key: randomUUID() });
    // What has to be done before it can be asked for is done before anybody is to die.
    let asked = await ask();
    const first = await cluster.dies([...api, { who: 'worker', point }], () =>
      untilReached(capability, cluster, async (tries) => {
        if (tries > 0) asked = await ask();
        return cluster.post(asked).catch(() => null);
      }),
    );
    const reply = unstarted ? await cluster.post(asked) : first;
    if (reply?.status !== 201) throw new Error(`not accepted: ${reply?.text}`);
    await isRight(capability, cluster, reply, outcome);
  };
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
