import { approvedPayload } from '../../support/approvals.js';
import { eventually } from '../../support/eventually.js';
import { transferBody } from '../../support/tenant.js';
import { instructionPoints, VERIFY_POINTS, type Case } from './capability.js';
import type { Cluster } from './cluster.js';

/** An account that ends in these digits stays pending until a test sets the outcome at the bank. */
const PENDING = '006';
/** The points from the application of the outcome on. */
const POINTS = instructionPoints().slice(2);
/** The bank is verified first, and its outcome is applied; the second application is the operator's. */
const SECOND: Record<string, string> = {
  'outcome.before': 'outcome.before:2',
  'commit.before': 'outcome.before:2>commit.before',
  'commit.after': 'outcome.before:2>commit.after',
  'outcome.after': 'outcome.after:2',
};

/** A transfer that stays pending at the bank, and whose events so far are delivered. */
async function stuck(cluster: Cluster): Promise<string> {
  const id = await cluster.tenant.send(PENDING);
  await eventually(`the bank knows ${id}`, async () => {
    const { timeline } = await cluster.tenant.stored(id);
    return timeline.some(({ type }) => type === 'provider_answer') ? true : undefined;
  });
  await allDelivered(cluster, id, ['transfer.processing']);
  return id;
}

/** Waits until the events are delivered and the worker has stored that, so the failpoint cannot fire for them. */
export async function allDelivered(
  cluster: Cluster,
  id: string,
  names: readonly string[],
): Promise<void> {
  await cluster.isNotified(id, names);
  const { db } = cluster.service.deps.database;
  await eventually('all deliveries are done with', async () => {
    const left = { status: { $ne: 'delivered' } };
    return (await db.collection('webhook_deliveries').countDocuments(left)) === 0
      ? true
      : undefined;
  });
}

type Input = { amount_minor?: number; force?: boolean };

/** Prepares a command; the returned function sends it. */
async function prepared(
  { service, tenant }: Cluster,
  id: string,
  kind: 'complete' | 'fail',
  more: Input = {},
) {
  const payload = {
    actor: 'ada',
    reason: 'looked it up',
    session_id: null,
    force: false,
    ...more,
  };
  const record = await tenant.stored(id);
  // A second person has approved what is forced.
  const forced = payload.force || (kind === 'fail' && record.status !== 'failed');
  const sent = forced
    ? await approvedPayload(service.deps, 'transfers', record, payload, kind)
    : payload;
  return () => service.deps.transfers.starter.command(record, kind, sent);
}

const command = async (...given: Parameters<typeof prepared>) => (await prepared(...given))();

/**
 * The worker dies while it handles an operator's command. A command without an answer is repeated, and so is one that was not
 * done because the answer of the bank was lost.
 */
async function obeyed(
  cluster: Cluster,
  id: string,
  kind: 'complete' | 'fail',
  point: string,
  more: Input = {},
) {
  // Prepared before the failpoint is armed, so that no poll passes it instead.
  const send = await prepared(cluster, id, kind, more);
  const { answer } = await cluster.dies([{ who: 'worker', point }], () => {
    // Not awaited, because the command is answered only after the worker has restarted.
    const given = send().catch(() => null);
    return Promise.resolve({ answer: given });
  });
  const given = await answer;
  if (given?.done === true) return;
  if (!VERIFY_POINTS.includes(point)) expect(given).toBeNull();
  expect(await command(cluster, id, kind, more)).toMatchObject({ done: true });
}

/** The money returns once. Monitoring of the bank continues, and the bank rejects the transfer in the end. */
const failing = (point: string): Case => ({
  name: `a transfer, failed by an operator: the worker dies at ${point}`,
  async run(cluster) {
    const before = await cluster.tenant.balance();
    const id = await stuck(cluster);
    await obeyed(cluster, id, 'fail', point);
    expect(await cluster.tenant.get(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'operator' },
    });
    expect(await cluster.tenant.balance()).toEqual(before);
    await cluster.isNotified(id, ['transfer.failed', 'transfer.processing']);
    expect(await cluster.service.bank.setTransferOutcome(id, 'failed')).toBeLessThan(300);
    await cluster.isQuiet();
    expect(await cluster.effects(id)).toEqual([]);
  },
});

/** A transfer that was failed by force and then paid is debited once. */
const completingLate = (point: string): Case => ({
  name: `a late payment, completed by an operator: the worker dies at ${point}`,
  async run(cluster) {
    const id = await stuck(cluster);
    expect(await command(cluster, id, 'fail')).toMatchObject({ done: true });
    await cluster.service.bank.setTransferOutcome(id, 'paid');
    await cluster.tenant.waitFor(id, ({ attention }) => attention !== null);
    await allDelivered(cluster, id, ['transfer.failed', 'transfer.processing']);
    await obeyed(cluster, id, 'complete', SECOND[point] ?? point);
    expect(await cluster.tenant.get(id)).toMatchObject({ status: 'completed', attention: null });
    expect(await cluster.effects(id)).toEqual(['paid']);
    await cluster.isNotified(id, ['transfer.completed', 'transfer.failed', 'transfer.processing']);
    await cluster.isQuiet();
  },
});

/** A payment of less than was ordered ends once, and the rest returns to the wallet once. */
const acceptingLess = (point: string): Case => ({
  name: `a payment of less than was ordered, completed by an operator: the worker dies at ${point}`,
  async run(cluster) {
    const { available } = await cluster.tenant.balance();
    const id = await stuck(cluster);
    const { amount_minor: amount, fee_minor: fee } = await cluster.tenant.get(id);
    const less = amount - 1_000;
    await cluster.service.bank.setTransferOutcome(id, 'paid', less);
    await cluster.tenant.waitFor(id, ({ attention }) => attention !== null);
    const accepted = { amount_minor: less };
    await obeyed(cluster, id, 'complete', SECOND[point] ?? point, accepted);
    expect(await cluster.tenant.get(id)).toMatchObject({
      status: 'completed',
      attention: null,
      settled_amount_minor: less,
    });
    expect((await cluster.tenant.balance()).available).toBe(available - less - fee);
    expect(await cluster.effects(id)).toEqual(['paid']);
    await cluster.isNotified(id, ['transfer.completed', 'transfer.processing']);
    await cluster.isQuiet();
  },
});

/** The points around the question to the bank, and those of the correction. */
const CORRECTION_POINTS = [...VERIFY_POINTS, ...POINTS];
const COMPLETED = ['transfer.completed', 'transfer.processing'];

/** A transfer that operators have completed by force, and of which the bank then says something else. */
async function contradicted(
  cluster: Cluster,
  outcome: 'paid' | 'failed',
  amountMinor?: number,
): Promise<string> {
  const id = await stuck(cluster);
  expect(await command(cluster, id, 'complete', { force: true })).toMatchObject({ done: true });
  await allDelivered(cluster, id, COMPLETED);
  await cluster.service.bank.decideTransfer(id, outcome, amountMinor);
  await cluster.tenant.waitFor(id, ({ attention }) => attention !== null);
  return id;
}

/** The ids of the transfer's postings, without its own. */
async function postingsOf({ service }: Cluster, id: string): Promise<string[]> {
  const postings = service.deps.database.db.collection<{ _id: string }>('postings');
  const found = await postings.find({ _id: { $regex: `^${id}/` } }).toArray();
  return found.map(({ _id }) => _id.slice(id.length + 1)).toSorted();
}

/** The booked amount of a completed transfer is adjusted once to less, which the bank has paid. */
const adjusting = (point: string): Case => ({
  name: `a completed transfer, adjusted by an operator to less: the worker dies at ${point}`,
  async run(cluster) {
    const { available } = await cluster.tenant.balance();
    const less = transferBody(PENDING).amount_minor - 1_000;
    const id = await contradicted(cluster, 'paid', less);
    await obeyed(cluster, id, 'complete', SECOND[point] ?? point, { amount_minor: less });
    const { fee_minor: fee, ...adjusted } = await cluster.tenant.get(id);
    expect(adjusted).toMatchObject({
      status: 'completed',
      attention: null,
      settled_amount_minor: less,
    });
    expect(await postingsOf(cluster, id)).toEqual(['adjustment-1', 'hold', 'resolve']);
    expect((await cluster.tenant.balance()).available).toBe(available - less - fee);
    expect(await cluster.effects(id)).toEqual(['paid']);
    await cluster.isNotified(id, ['transfer.completed', ...COMPLETED]);
    await cluster.isQuiet();
  },
});

/** The booked amount and fee of a completed transfer are taken back once, because the bank has not paid it. */
const takingBack = (point: string): Case => ({
  name: `a completed transfer, taken back by an operator: the worker dies at ${point}`,
  async run(cluster) {
    const before = await cluster.tenant.balance();
    const id = await contradicted(cluster, 'failed');
    await obeyed(cluster, id, 'fail', SECOND[point] ?? point, { force: true });
    expect(await cluster.tenant.get(id)).toMatchObject({ status: 'failed', attention: null });
    expect(await postingsOf(cluster, id)).toEqual(['hold', 'resolve', 'return-1']);
    expect(await cluster.tenant.balance()).toEqual(before);
    expect(await cluster.effects(id)).toEqual([]);
    await cluster.isNotified(id, [...COMPLETED, 'transfer.failed']);
    await cluster.isQuiet();
  },
});

export const commands: Case[] = [
  ...POINTS.map(failing),
  ...POINTS.map(completingLate),
  ...POINTS.map(acceptingLess),
  ...CORRECTION_POINTS.map(adjusting),
  ...CORRECTION_POINTS.map(takingBack),
];
