import type { Document } from 'mongodb';
import { transferWorkflowId } from '../../../src/capabilities/transfers/record.js';
import { eventually } from '../../support/eventually.js';
import { elsewhere, PAID, type Case } from './capability.js';
import type { Cluster } from './cluster.js';
import { isRight } from './transfers.js';

/** End of accounts whose transfers stay pending until their outcome is set at the bank. */
const PENDING = '006';
/** The time for which the bank's copy lacks what it has acknowledged. */
const LAG_MS = 5_000;
/** A message that cannot be applied is tried again for as long as the store refuses outcomes. */
const PATIENT = { BURSAR_PROVIDER_EVENT_RETRY_SECONDS: Array.from({ length: 20 }, () => 3).join() };

/** A transfer that the bank has acknowledged, and not decided. */
async function acknowledged({ tenant }: Cluster): Promise<string> {
  const id = await tenant.send(PENDING);
  await eventually('the bank has acknowledged it', async () =>
    (await tenant.stored(id)).acknowledged_at === null ? undefined : true,
  );
  return id;
}

/** Lets the store refuse the outcome of a transfer. Returns the function that ends this. */
async function refuseOutcome({ service }: Cluster, id: string): Promise<() => Promise<void>> {
  const { db } = service.deps.database;
  const [found] = await db.listCollections({ name: 'transfers' }).toArray();
  const present = (found as { options: Document }).options['validator'] as Document;
  const validate = async (validator: Document) =>
    void (await db.command({ collMod: 'transfers', validator }));
  await validate({ $and: [present, { $or: [{ _id: { $ne: id } }, { status: 'processing' }] }] });
  return () => validate(present);
}

/** The worker dies while the store refuses the outcome for long: an operator is called, and it is booked once after that. */
const refusedForLong = (point: string): Case =>
  elsewhere(
    `a transfer whose outcome the store refuses until an operator is called: the worker dies at ${point}`,
    PATIENT,
    async (own) => {
      const id = await acknowledged(own);
      const accept = await refuseOutcome(own, id);
      try {
        await own.dies([{ who: 'worker', point }], () =>
          own.service.bank.decideTransfer(id, 'paid'),
        );
        const { workflow } = own.service.deps.temporal.client;
        await eventually('an operator is called', async () => {
          const { searchAttributes } = await workflow.getHandle(transferWorkflowId(id)).describe();
          return searchAttributes['NeedsAttention']?.[0] === true ? true : undefined;
        });
      } finally {
        await accept();
      }
      await isRight(own, id, PAID);
      expect((await own.tenant.stored(id)).attention).toBeNull();
      await own.isQuiet();
    },
  );

/** The bank fails over to a copy that lacks an acknowledged transfer, and the worker dies with its answer: it is paid once. */
const laggingCopy = (point: string): Case => ({
  name: `an acknowledged transfer that a lagging copy of the bank lacks: the worker dies at ${point}`,
  async run(cluster) {
    const id = await acknowledged(cluster);
    await cluster.dies([{ who: 'worker', point }], () =>
      cluster.service.bank.failOver([id], LAG_MS),
    );
    await cluster.service.bank.decideTransfer(id, 'paid');
    await isRight(cluster, id, PAID);
    expect(await cluster.tenant.stored(id)).toMatchObject({ submissions: 1, attention: null });
    await cluster.isQuiet();
  },
});

export const lastingFaults: Case[] = [
  // A refused outcome ends before the points of a commit.
  refusedForLong('outcome.before:2'),
  ...['verify.before:2', 'verify.answered:2'].map(laggingCopy),
];
