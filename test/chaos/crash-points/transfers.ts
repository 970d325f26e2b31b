import { order } from '../../support/tenant.js';
import {
  API_POINTS,
  casesOf,
  DISPATCH_POINTS,
  OUTCOMES,
  PAID,
  pursuitPoints,
  REFUSED,
  refusedOnceThere,
  VERIFY_POINTS,
  type Case,
  type Outcome,
} from './capability.js';
import type { Stage } from './cluster.js';

export const PATH = '/transfers';

/** Paid as often as its bank says, and told once. */
export async function isRight(stage: Stage, id: string, { ends, times }: Outcome): Promise<void> {
  await stage.tenant.waitFor(id, ends);
  expect(await stage.effects(id)).toEqual(Array.from({ length: times }, () => 'paid'));
  await stage.isTold(id, [`transfer.${ends}`, 'transfer.processing']);
}

/** Told by callback alone: the API dies with it in its hands. */
const calledBack = (point: string, suffix: string, outcome: Outcome): Case => ({
  name: `a transfer, ${outcome.name}: the API dies at ${point}`,
  async run(stage) {
    const id = await stage.dies([{ who: 'api', point }], async () => {
      const sent = await stage.tenant.send(suffix);
      if (outcome === REFUSED) {
        await refusedOnceThere(() => stage.service.bank.tell(sent, 'failed'));
      }
      return sent;
    });
    await isRight(stage, id, outcome);
    await stage.isQuiet();
  },
});

/** A receiver that fails once: the attempt after that is a workflow's. */
const toldAgain = (point: string): Case => ({
  name: `a webhook that was not taken: the worker dies at ${point}`,
  async run(stage) {
    let failed = false;
    stage.receiver.behave((response, { body }) => {
      const refuse = !failed && body.includes('"transfer.completed"');
      failed ||= refuse;
      response.writeHead(refuse ? 500 : 204).end();
    });
    const id = await stage.dies([{ who: 'worker', point }], () => stage.tenant.send());
    await isRight(stage, id, PAID);
    await stage.isQuiet();
    expect(failed).toBe(true);
  },
});

export const transfers: Case[] = [
  ...casesOf({
    name: 'a transfer',
    outcomes: OUTCOMES,
    ask: (_, { suffix }) => ({ path: PATH, body: order(suffix) }),
    isRight: (stage, { id }, outcome) => isRight(stage, id, outcome),
    points: {
      api: API_POINTS,
      // That it goes out is a commit of its own, and is told.
      worker: pursuitPoints({ commits: 2, told: 2 }),
      unanswered: VERIFY_POINTS,
      dispatcher: DISPATCH_POINTS,
    },
  }),
  ...['callback.stored', 'callback.applied'].flatMap((point) => [
    calledBack(point, '001', PAID),
    calledBack(point, '006', REFUSED),
  ]),
  ...['start.before', 'start.after', 'webhook.before:3', 'webhook.after:3'].map(toldAgain),
];
