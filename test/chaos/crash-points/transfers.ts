import { transferBody } from '../../support/tenant.js';
import {
  API_POINTS,
  EVENT_DEATHS,
  namesOf,
  casesOf,
  DISPATCH_POINTS,
  OUTCOMES,
  PAID,
  instructionPoints,
  REFUSED,
  refusedOnceThere,
  VERIFY_POINTS,
  type Case,
  type Outcome,
} from './capability.js';
import type { Cluster, Death } from './cluster.js';

export const PATH = '/transfers';

/** Checks that the bank paid as often as the outcome requires, and that each event was delivered once. */
export async function isRight(
  cluster: Cluster,
  id: string,
  { status, times }: Outcome,
): Promise<void> {
  await cluster.tenant.waitFor(id, status);
  expect(await cluster.effects(id)).toEqual(Array.from({ length: times }, () => 'paid'));
  await cluster.isNotified(id, [`transfer.${status}`, 'transfer.processing']);
}

/** Reported by a provider event alone: the API dies with it, or after it the worker too. */
const calledBack = (deaths: readonly Death[], suffix: string, outcome: Outcome): Case => ({
  name: `a transfer, reported by an event, ${outcome.name}: ${namesOf(deaths)}`,
  async run(cluster) {
    const id = await cluster.dies(deaths, async () => {
      const sent = await cluster.tenant.send(suffix);
      if (outcome === REFUSED) {
        await refusedOnceThere(() => cluster.service.bank.setTransferOutcome(sent, 'failed'));
      }
      return sent;
    });
    await isRight(cluster, id, outcome);
    await cluster.isQuiet();
  },
});

/** The receiver fails once, so a workflow makes the next attempt. */
const deliveredAgain = (point: string): Case => ({
  name: `a webhook that the receiver rejects: the worker dies at ${point}`,
  async run(cluster) {
    let failed = false;
    cluster.receiver.behave((response, { body }) => {
      const refuse = !failed && body.includes('"transfer.completed"');
      failed ||= refuse;
      response.writeHead(refuse ? 500 : 204).end();
    });
    const id = await cluster.dies([{ who: 'worker', point }], () => cluster.tenant.send());
    await isRight(cluster, id, PAID);
    await cluster.isQuiet();
    expect(failed).toBe(true);
  },
});

export const transfers: Case[] = [
  ...casesOf({
    name: 'a transfer',
    outcomes: OUTCOMES,
    newRequest: (_, { suffix }) => ({ path: PATH, body: transferBody(suffix) }),
    isRight: (cluster, { id }, outcome) => isRight(cluster, id, outcome),
    points: {
      api: API_POINTS,
      // The submission is a commit of its own, with an event.
      worker: instructionPoints({ commits: 2, events: 2 }),
      unanswered: VERIFY_POINTS,
      dispatcher: DISPATCH_POINTS,
    },
  }),
  ...EVENT_DEATHS.flatMap((deaths) => [
    calledBack(deaths, '001', PAID),
    calledBack(deaths, '006', REFUSED),
  ]),
  ...['start.before', 'start.after', 'webhook.before:3', 'webhook.after:3'].map(deliveredAgain),
];
