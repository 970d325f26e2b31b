import type { Transfer } from '../../../../src/capabilities/transfers/transfer.js';
import { order } from '../../../support/tenant.js';
import type { Actor } from '../workload.js';
import { createAsking } from '../requests.js';
import { answersHold, isolated } from '../common-checks.js';
import type { Random } from '../random.js';
import { createReading } from '../readers.js';
import type { StormStage } from '../cluster.js';
import type { Told } from '../received-webhooks.js';
import { chooseOf } from './choosing.js';

/**
 * How accounts end: the bank pays most at once; a fifth is answered in a way that leaves open whether money has moved.
 * Orders that are lost for good (005) end with an operator, and are left to the bank's faults, which lose any.
 */
const PLAIN = [
  [12, '789'],
  [1, '001'],
  [1, '002'],
  [1, '008'],
  [1, '009'],
  [1, '010'],
  [1, '011'],
] as const;
// Three errors and three orders take as long as many without an answer.
const DOUBTFUL = [
  [5, '004'],
  [1, '007'],
] as const;

const COURSE = {
  pending: ['processing', 'completed', 'failed'],
  processing: ['completed', 'failed'],
  completed: ['reversed'],
  failed: [],
  reversed: [],
};
/** Amounts and accounts differ, so that what is swapped is seen. */
const AMOUNTS_MINOR = [100_000, 200_000] as const;

export function createTransfers(stage: StormStage, random: Random): Actor {
  const problems: string[] = [];
  const { look, reads } = createReading(stage, random, COURSE, problems);
  const { asked, ask, repeat } = createAsking<ReturnType<typeof order>>(stage, random, problems);
  const { db } = stage.service.deps.database;

  async function check(told: Told): Promise<string[]> {
    const transfers = await db.collection<Transfer>('transfers').find().toArray();
    return [
      ...answersHold(asked, transfers),
      ...told.wrong('transfer', transfers.map(asTold)),
      ...(await isolated(stage, transfers, {
        one: (id) => `/transfers/${id}`,
        list: '/transfers',
      })),
    ];
  }

  return {
    name: 'transfers',
    weight: 22,
    async act() {
      const of = stage.anyTenant(random);
      const suffix = chooseOf<string>(random, random.chance(0.2) ? DOUBTFUL : PLAIN);
      const body = order(suffix, {
        amount_minor: Math.round(random.between(...AMOUNTS_MINOR)),
        recipient_account: `012345${Math.floor(random.next() * 10)}${suffix}`,
      });
      await ask({ of, path: '/transfers', body, key: `storm ${body.reference}` });
    },
    async look() {
      const known = asked.filter(({ answer }) => answer?.id);
      if (known.length === 0) return;
      // Rather what is under way than what is long over.
      const { of, answer } = random.pick(random.chance(0.8) ? known.slice(-200) : known);
      const id = String(answer?.id);
      await look({ of, path: `/transfers/${id}`, id });
    },
    repeat,
    check,
    figures: () => ({
      requests: asked.length,
      transfers: asked.filter(({ answer }) => answer?.status === 201).length,
      insufficient: asked.filter(({ answer }) => answer?.code === 'insufficient_balance').length,
      reads: reads(),
    }),
    problems,
  };
}

/** What the bank took back was completed before, as far as we had heard of it. */
const asTold = (transfer: Transfer) =>
  transfer.reversed_at === null
    ? transfer
    : { ...transfer, status: 'reversed', endings: ['completed'] };
