import type { Transfer } from '../../../src/transfers/transfer.js';
import { order } from '../../../test/support/tenant.js';
import type { Actor } from '../actor.js';
import { createAsking } from '../asking.js';
import { answersHold, isolated } from '../common-checks.js';
import type { Random } from '../random.js';
import { createReading } from '../reading.js';
import type { StormStage } from '../stage.js';
import type { Told } from '../told.js';

/**
 * How accounts end: the bank pays most at once; a fifth is answered in a way that leaves doubt. Orders that are lost
 * for good (005) end with an operator, and are left to the bank's faults, which lose any.
 */
const PLAIN = ['789', '789', '789', '789', '789', '789', '001', '002'] as const;
const DOUBTFUL = ['004', '007', '009', '010', '011'] as const;

/** How far a transfer has come. `failed` may follow `completed`: a reversal. */
const RANK = { pending: 0, processing: 1, completed: 2, failed: 3 };

export function createTransfers(stage: StormStage, random: Random): Actor {
  const problems: string[] = [];
  const { look, reads } = createReading(stage, random, RANK, problems);
  const { asked, ask, repeat } = createAsking<ReturnType<typeof order>>(stage, random, problems);
  const { db } = stage.service.deps.database;

  async function check(told: Told): Promise<string[]> {
    const transfers = await db.collection<Transfer>('transfers').find().toArray();
    return [
      ...answersHold(asked, transfers),
      ...told.untold('transfer', transfers),
      ...(await isolated(stage, transfers, {
        one: (id) => `/transfers/${id}`,
        list: '/transfers',
      })),
    ];
  }

  return {
    name: 'transfers',
    weight: 13,
    async act() {
      const of = stage.anyTenant(random);
      const body = order(random.pick(random.chance(0.2) ? DOUBTFUL : PLAIN));
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
