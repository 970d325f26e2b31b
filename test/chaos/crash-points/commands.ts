import { eventually } from '../../support/eventually.js';
import { pursuitPoints, type Case } from './capability.js';
import type { Stage } from './cluster.js';

/** Ends in these digits: stays pending until the bank is told what to do. */
const PENDING = '006';
/** From the settlement on. */
const POINTS = pursuitPoints().slice(2);
/** The bank is asked first, and its word is booked again: the second settlement is the operator's. */
const SECOND: Record<string, string> = {
  'settle.before': 'settle.before:2',
  'commit.before': 'settle.before:2>commit.before',
  'commit.after': 'settle.before:2>commit.after',
  'settle.after': 'settle.after:2',
};

/** A transfer that the bank has and does not decide, and all of it is told that is to be told so far. */
async function stuck(stage: Stage): Promise<string> {
  const id = await stage.tenant.send(PENDING);
  await eventually(`the bank knows ${id}`, async () => {
    const { timeline } = await stage.tenant.stored(id);
    return timeline.some(({ type }) => type === 'provider_answer') ? true : undefined;
  });
  await toldAll(stage, id, ['transfer.processing']);
  return id;
}

/** Told, and noted by the worker that it is: it does not die of that any more. */
async function toldAll(stage: Stage, id: string, names: readonly string[]): Promise<void> {
  await stage.isTold(id, names);
  const { db } = stage.service.deps.database;
  await eventually('all deliveries are done with', async () => {
    const left = { status: { $ne: 'delivered' } };
    return (await db.collection('webhook_deliveries').countDocuments(left)) === 0
      ? true
      : undefined;
  });
}

async function command({ service, tenant }: Stage, id: string, kind: 'complete' | 'fail') {
  const payload = {
    actor: 'ada',
    reason: 'looked it up',
    session_id: null,
    force: kind === 'fail',
  };
  return service.deps.starter.command(await tenant.stored(id), kind, payload);
}

/** An operator's command finds the worker alive and leaves it dead; one that got no answer is given again. */
async function obeyed(stage: Stage, id: string, kind: 'complete' | 'fail', point: string) {
  const { answer } = await stage.dies([{ who: 'worker', point }], () => {
    // Not waited for: it is answered when the worker has come back.
    const given = command(stage, id, kind).catch(() => null);
    return Promise.resolve({ answer: given });
  });
  expect((await answer) ?? (await command(stage, id, kind))).toMatchObject({ done: true });
}

/** The money is back, once; and the bank, which is watched on, refuses in the end. */
const failing = (point: string): Case => ({
  name: `a transfer, failed by an operator: the worker dies at ${point}`,
  async run(stage) {
    const before = await stage.tenant.balance();
    const id = await stuck(stage);
    await obeyed(stage, id, 'fail', point);
    expect(await stage.tenant.get(id)).toMatchObject({
      status: 'failed',
      failure: { code: 'operator' },
    });
    expect(await stage.tenant.balance()).toEqual(before);
    await stage.isTold(id, ['transfer.failed', 'transfer.processing']);
    expect(await stage.service.bank.tell(id, 'failed')).toBeLessThan(300);
    await stage.isQuiet();
    expect(await stage.effects(id)).toEqual([]);
  },
});

/** What was failed by force and paid all the same is adopted, once. */
const adopting = (point: string): Case => ({
  name: `a late payment, completed by an operator: the worker dies at ${point}`,
  async run(stage) {
    const id = await stuck(stage);
    expect(await command(stage, id, 'fail')).toMatchObject({ done: true });
    await stage.service.bank.tell(id, 'paid');
    await stage.tenant.waitFor(id, ({ attention }) => attention !== null);
    await toldAll(stage, id, ['transfer.failed', 'transfer.processing']);
    await obeyed(stage, id, 'complete', SECOND[point] ?? point);
    expect(await stage.tenant.get(id)).toMatchObject({ status: 'completed', attention: null });
    expect(await stage.effects(id)).toEqual(['paid']);
    await stage.isTold(id, ['transfer.completed', 'transfer.failed', 'transfer.processing']);
    await stage.isQuiet();
  },
});

export const commands: Case[] = [...POINTS.map(failing), ...POINTS.map(adopting)];
