import { CancellationScope, condition } from '@temporalio/workflow';
import { describe } from '../src/pursuits/operator.js';
import { isOpen } from '../src/pursuits/record.js';
import type { CallReport } from '../src/pursuits/reports.js';
import { hasMail } from './operator-inbox.js';
import type { Run } from './pursuit-run.js';
import { nextStep, type Pursuit, type Step } from './pursuit-steps.js';

/** Waits as the step says, then lets the order out or asks; a waker or an operator ends the wait. */
export async function call<Own>(
  run: Run<Own>,
  step: Extract<Step, { do: 'send' | 'ask' }>,
  pursuit: Pursuit,
): Promise<[Pursuit, Step]> {
  const { ref, activities, attention, inbox, pages } = run;
  const closed = step.do === 'ask' && step.closed === true;
  if (step.do === 'ask' && step.stuck !== null) {
    await attention.raise(step.stuck, closed ? pages.whileClosed : pages.whileOpen);
  }
  if (step.afterMs > 0) {
    const leftMs = closed ? Infinity : await attention.dueInMs(pages.whileOpen);
    // A pause that the provider asked for is kept; a question may come earlier.
    const waitMs = step.do === 'send' ? step.afterMs : Math.min(step.afterMs, leftMs);
    const ended = await pause(run, Math.max(1, waitMs));
    if (ended) return [pursuit, ended];
  }
  if (inbox.commands.length + inbox.unreadable.length > 0) return [pursuit, step];
  const woken = inbox.awake;
  inbox.awake = false;
  const askedMs = Date.now();
  const report = await (
    step.do === 'send' && !woken
      ? send(run, pursuit, step)
      : unlessEnded(run, () => activities.verify({ ...ref, nextPollMs: pursuit.pollMs }))
  ).catch(silence);
  if (report.kind === 'not_permitted' && report.attention !== null) {
    await attention.raise(report.attention, pages.whileOpen);
  }
  const heardMs = Date.now();
  const idleMs = idleTime(report);
  if (idleMs !== null) attention.putOff(heardMs + idleMs + run.policy.attentionAfterMs);
  // A new attempt: what was called for was the one before, and the record says so no more.
  if (report.kind === 'unsent' && idleMs !== null) attention.clear('');
  if (!closed) tellOfProvider(run, report, heardMs);
  return nextStep(pursuit, report, run, { askedMs, heardMs });
}

/** For how long from now nobody is late, because it is not the provider's turn; null where it is. */
function idleTime(report: CallReport): number | null {
  if (report.kind === 'unsent') return report.afterMs ?? null;
  return report.kind === 'pending' && report.idle === true ? 0 : null;
}

/**
 * A pause, until there is mail. Where the order may be repeated a waker does not shorten it: only a record that has
 * ended does, and then that is all there is to know.
 */
async function pause<Own>(run: Run<Own>, ms: number): Promise<Step | null> {
  const { inbox, repeatable } = run;
  const untilMs = Date.now() + ms;
  for (let leftMs = ms; leftMs > 0; leftMs = untilMs - Date.now()) {
    await condition(() => hasMail(inbox), leftMs);
    if (!repeatable || !inbox.awake) return null;
    if (await endedMeanwhile(run)) return { do: 'end' };
  }
  return null;
}

/** What a waker came to say, where that can only be that the record has ended. */
async function endedMeanwhile<Own>({ ref, inbox, activities }: Run<Own>): Promise<boolean> {
  inbox.awake = false;
  return !isOpen(await activities.readStanding(ref));
}

/** The first order of a run goes out from here where it may; all others, and what may not, by the provider's queue. */
async function send<Own>(
  run: Run<Own>,
  { sends }: Pursuit,
  { quietly = false }: Extract<Step, { do: 'send' }>,
): Promise<CallReport> {
  const { ref, provider, activities, triedHere } = run;
  const order = { ...ref, sends, quietly };
  if (activities.sendHere && !triedHere) {
    run.triedHere = true;
    const report = await activities.sendHere({ ...order, provider });
    if (report.kind !== 'not_tried') return report;
  }
  return unlessEnded(run, () => activities.send(order));
}

/**
 * Lets go of a call whose record has ended meanwhile, where the order may be repeated: a slow answer to an order that
 * counts no more must not hold back the one that does. Whoever ends it wakes us.
 */
async function unlessEnded<Own>(
  run: Run<Own>,
  ask: () => Promise<CallReport>,
): Promise<CallReport> {
  if (!run.repeatable) return ask();
  const scope = new CancellationScope();
  const known = { heard: false };
  const answer = scope
    .run(ask)
    .catch(silence)
    .finally(() => (known.heard = true));
  for (;;) {
    await condition(() => known.heard || run.inbox.awake);
    if (known.heard) return answer;
    if (!(await endedMeanwhile(run))) continue;
    scope.cancel();
    return { kind: 'closed', attention: null };
  }
}

/** The provider's last word, for the page. What the record alone said is no word of the provider. */
export function tellOfProvider<Own>(
  { attention, words }: Run<Own>,
  report: CallReport,
  heardMs: number,
): void {
  if (report.kind === 'closed' || report.kind === 'not_permitted') return;
  const at = new Date(heardMs).toISOString().slice(0, 19).replace('T', ' ');
  attention.know({ provider: `Last known (${at} UTC): ${describe(report, words)}.` });
}

/** A call that did not come back says nothing about the money. */
export const silence = (): CallReport => ({ kind: 'unknown', reason: 'activity_failed' });
