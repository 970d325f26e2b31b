import { randomUUID } from 'node:crypto';
import { fundReversalIdOf } from '../../../src/capabilities/card-fundings/transitions.js';
import { isOpen } from '../../../src/core/instructions/instruction.js';
import { eventually } from '../../support/eventually.js';
import { casesOf, type Case, type Outcome } from './capability.js';
import type { Cluster } from './cluster.js';

/** The issuer's outcomes for a reversal of a funding. `times` is how often the card keeps the money. */
const TAKEN_BACK: Outcome = { name: 'taken back', suffix: '012', status: 'failed', times: 0 };
const KEPT: Outcome = { name: 'refused', suffix: '013', status: 'completed', times: 1 };
const SILENT: Outcome = { ...TAKEN_BACK, name: 'taken back, never answered' };

/** A funding that completes after its deadline: it has failed for the tenant, and is reversed. */
async function newRequest(cluster: Cluster, outcome: Outcome) {
  const { card, cards, service } = cluster;
  const lost = { call: 'reverse', kind: 'drop_after', probability: 1 } as const;
  if (outcome === SILENT) await service.bank.faults([lost]);
  const { status } = await cards.get(card);
  if (status === 'locked') {
    const { body } = await cards.act(card, 'unlock');
    await cards.waitForOperation(card, body.data.id, 'completed');
    await cluster.isQuiet();
  }
  const transaction_reference = `${randomUUID()}-${outcome.suffix}`;
  return { path: `/cards/${card}/jit-fund`, body: { amount_minor: 5_000, transaction_reference } };
}

const stored = ({ service, tenant }: Cluster, id: string) =>
  service.deps.cards.operations.get(tenant.id, id);

const ended = (cluster: Cluster, id: string) =>
  eventually(`${id} has ended`, async () => {
    const found = await stored(cluster, id);
    return found && !isOpen(found) ? found : undefined;
  });

async function isRight(cluster: Cluster, id: string, { status, times }: Outcome): Promise<void> {
  const funding = await ended(cluster, id);
  expect(funding.status).toBe('failed');
  await cluster.isNotified(id, ['card.operation.failed']);
  const fundReversal = await ended(cluster, fundReversalIdOf(id));
  expect(fundReversal.status).toBe(status);
  const back = times === 0 ? ['funding_reversed'] : [];
  expect(await cluster.effects(id)).toEqual(['funded', ...back]);
  if (times === 0) return;
  // The card keeps the money of a failed funding, which requires an operator's attention.
  expect((await stored(cluster, id))?.attention).not.toBeNull();
  const seen = { actor: 'ada', reason: 'it may keep it', session_id: null, force: false };
  const { starter } = cluster.service.deps.cards;
  expect(await starter.command(fundReversal, 'complete', seen)).toMatchObject({ done: true });
}

/**
 * The worker stops once it has submitted the funding, so that the API alone ends it at its deadline. On a slow machine that may
 * happen before it is submitted; then the funding is not late, and another one is sent.
 */
async function onlyApiEndsIt({ service }: Cluster): Promise<void> {
  const operations = service.deps.database.db.collection('card_operations');
  const submitted = { type: 'jit_fund', status: 'processing', submissions: { $gt: 0 } };
  await eventually('the funding is submitted, or has ended', async () =>
    !service.api.isRunning() || (await operations.findOne(submitted)) ? true : undefined,
  );
  service.worker.signal('SIGSTOP');
  try {
    await eventually('the API is dead', () => (service.api.isRunning() ? undefined : true));
  } finally {
    service.worker.signal('SIGCONT');
  }
}

export const lateFundings: Case[] = casesOf({
  name: 'a funding after its deadline',
  outcomes: [TAKEN_BACK, KEPT, SILENT],
  newRequest,
  isRight: (cluster, { id }, outcome) => isRight(cluster, id, outcome),
  // A funding that was never submitted failed without a reversal, so it is not late.
  async isReached(cluster, { id }) {
    await ended(cluster, id);
    const fundReversal = await stored(cluster, fundReversalIdOf(id));
    return fundReversal !== null && (await cluster.effects(id)).length > 0;
  },
  meanwhile: onlyApiEndsIt,
  points: {
    api: ['commit.before:2', 'commit.after:2'],
    worker: [
      'verify.before',
      'fund_reversal.before',
      'fund_reversal.answered',
      'verify.answered',
      'outcome.before',
      'outcome.after',
    ],
    unanswered: [],
    dispatcher: [],
  },
});
