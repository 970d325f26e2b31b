import {
  allHandlersFinished,
  CancellationScope,
  condition,
  workflowInfo,
} from '@temporalio/workflow';
import { describe, judge } from '../src/pursuits/operator.js';
import { isOpen } from '../src/pursuits/record.js';
import type { Words } from '../src/pursuits/words.js';
import type {
  CallReport,
  FactReport,
  OperatorAnswer,
  OperatorCommand,
  PursuitActivities,
  RecordRef,
} from '../src/pursuits/reports.js';
import { createAttention, type Attention } from './attention.js';
import { hasMail, openInbox, type Inbox, type PendingCommand } from './operator-inbox.js';
import { pagesOf, type Pages } from './pursuit-pages.js';
import {
  newPursuit,
  nextStep,
  oneMoreTry,
  type Pursuit,
  type Rules,
  type Step,
} from './pursuit-steps.js';

/** What is pursued: a record, what its capability's activities do for it, and its words. `Own`: facts of its own. */
export type Subject<Own = never> = Rules & {
  ref: RecordRef;
  provider: string;
  /** Attention is due so long after this as the policy says, however often the run is replaced. */
  acceptedAtMs: number;
  activities: PursuitActivities<Own>;
  /** What this run begins with. */
  firstStep(): Promise<Step<Own>>;
  /** Replaces this run by a new one of the same input. */
  startOver(): Promise<never>;
  /** By then the record ends for who waits for it, whatever it waits for. */
  deadline?: Deadline;
};

export type Deadline = {
  atMs: number;
  /** Ends the record if it is still open; false if its store does not find that it is time. */
  expire(): Promise<boolean>;
};

/** The clock that woke us and that of the store may differ a little. */
const CLOCKS_DIFFER_MS = 100;

type Run<Own> = Subject<Own> & {
  attention: Attention;
  inbox: Inbox;
  pages: Pages;
  /** The one send that may go out from here has been tried. */
  triedHere: boolean;
};

/**
 * Keeps one accepted record: lets the order out once, asks before it lets it out again, and settles what is proven.
 * The record decides; this run drives, and may be ended and started again at any moment. A cancellation is noted and
 * changes nothing: the money may be on its way.
 */
export async function pursue<Own>(subject: Subject<Own>): Promise<void> {
  const pages = pagesOf(subject.words);
  const inbox = openInbox(pages.descriptions);
  const noteCancellation = () => subject.activities.noteCancellation(subject.ref);
  await despiteCancellation(noteCancellation, () => drive(subject, inbox, pages));
}

/**
 * Keeps what an entity has open, one record after the other, and ends when it has none. Who changes which that is
 * wakes this run, or starts one: a signal that comes while the last look is taken brings another look.
 */
export async function pursueInTurn<Own>(
  words: Words,
  next: () => Promise<Subject<Own> | null>,
): Promise<void> {
  const pages = pagesOf(words);
  const inbox = openInbox(pages.descriptions);
  let subject: Subject<Own> | null = null;
  const noteCancellation = async () => subject?.activities.noteCancellation(subject.ref);
  await despiteCancellation(noteCancellation, async () => {
    for (;;) {
      // What anybody has woken us for so far is in the store, and is seen by this look.
      inbox.awake = false;
      subject = await next();
      if (!subject) {
        await refuseAll(inbox, words);
        if (!hasMail(inbox)) return;
        continue;
      }
      await drive(subject, inbox, pages);
      const { continueAsNewSuggested } = workflowInfo();
      if (continueAsNewSuggested && inbox.commands.length === 0) await subject.startOver();
    }
  });
}

async function despiteCancellation(
  note: () => Promise<void>,
  keep: () => Promise<void>,
): Promise<void> {
  void CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(note),
  );
  await CancellationScope.nonCancellable(keep);
}

/** Answers commands that find nothing under way. */
async function refuseAll(inbox: Inbox, { record }: Words): Promise<void> {
  const message = `No ${record} is under way.`;
  for (const pending of inbox.commands.splice(0)) pending.answer = { done: false, message };
  inbox.unreadable.length = 0;
  await condition(allHandlersFinished);
}

async function drive<Own>(subject: Subject<Own>, inbox: Inbox, pages: Pages): Promise<void> {
  const { ref, policy, words, activities } = subject;
  const attention = createAttention({
    dueAtMs: subject.acceptedAtMs + policy.attentionAfterMs,
    provider: words.provider,
    record: (reason) => activities.raiseAttention({ ...ref, reason }),
  });
  const run: Run<Own> = { ...subject, attention, inbox, pages, triedHere: false };
  const known = { ended: false };
  if (subject.deadline) void expireInTime(subject.deadline, inbox, () => known.ended);
  await advance(run);
  known.ended = true;
}

/** Beside the calls: one that is slow does not keep the deadline waiting. */
async function expireInTime(deadline: Deadline, inbox: Inbox, ended: () => boolean): Promise<void> {
  let leftMs = deadline.atMs - Date.now();
  while (!(await condition(ended, Math.max(1, leftMs)))) {
    if (await deadline.expire()) {
      inbox.awake = true;
      return;
    }
    leftMs = CLOCKS_DIFFER_MS;
  }
}

async function advance<Own>(run: Run<Own>): Promise<void> {
  const { attention, inbox, pages } = run;
  let pursuit = newPursuit();
  let step = await run.firstStep();
  for (;;) {
    await noteUnreadable(run);
    const pending = inbox.commands.shift();
    if (pending) [pursuit, step] = await obey(run, pending, pursuit);
    else if (step.do === 'end') break;
    else if (step.do === 'settle') step = await settle(run, step.fact);
    else {
      // Nothing is lost by it: the next run asks before it does anything.
      if (workflowInfo().continueAsNewSuggested) {
        await condition(allHandlersFinished);
        if (!hasMail(inbox)) await run.startOver();
      }
      [pursuit, step] = await call(run, step, pursuit);
    }
  }
  attention.clear(pages.done);
  await condition(allHandlersFinished);
}

/** Waits as the step says, then lets the order out or asks; a waker or an operator ends the wait. */
async function call<Own>(
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
function tellOfProvider<Own>(
  { attention, words }: Run<Own>,
  report: CallReport,
  heardMs: number,
): void {
  if (report.kind === 'closed' || report.kind === 'not_permitted') return;
  const at = new Date(heardMs).toISOString().slice(0, 19).replace('T', ' ');
  attention.know({ provider: `Last known (${at} UTC): ${describe(report, words)}.` });
}

/** Does what an operator asked for, as far as the provider agrees, and answers. The provider is always asked first. */
async function obey<Own>(
  run: Run<Own>,
  pending: PendingCommand,
  before: Pursuit,
): Promise<[Pursuit, Step]> {
  const { ref, activities, words } = run;
  const { command } = pending;
  const pursuit = command.kind === 'retry' ? oneMoreTry(before) : before;
  const standing = await activities.readStanding(ref);
  const askedMs = Date.now();
  const report = await activities
    .verify({ ...ref, nextPollMs: pursuit.pollMs, anyway: true })
    .catch(silence);
  const asked = { askedMs, heardMs: Date.now() };
  const [next, first] = nextStep(pursuit, report, run, asked);
  tellOfProvider(run, report, asked.heardMs);
  const verdict = judge(command, report, standing, words);
  let step = first;
  if (step.do === 'settle') step = await settle(run, step.fact);
  if (verdict.act === 'confirm' || verdict.act === 'release') {
    const kind = verdict.act === 'confirm' ? 'confirmed' : 'refused';
    step = await settle(run, operatorFact(kind, command), command);
  }
  pending.answer = await answer(run, command, verdict);
  return [next, step];
}

/** A release that is not forced rests on nothing having been sent: the store looks again when it books it. */
const operatorFact = (kind: 'confirmed' | 'refused', { force }: OperatorCommand): FactReport => {
  const origin = { providerRequestId: null, via: 'poll' } as const;
  if (kind === 'confirmed') return { ...origin, kind };
  return { ...origin, kind, code: 'operator', ...(!force && { ifUnsent: true }) };
};

/** What is said to the operator, and on the timeline: the outcome as it stands, not as it was meant. */
async function answer<Own>(
  { ref, activities, words, attention }: Run<Own>,
  command: OperatorCommand,
  { done, message }: OperatorAnswer,
): Promise<OperatorAnswer> {
  const wanted = { complete: 'completed', fail: 'failed', retry: null, verify: null }[command.kind];
  const standing = await activities.readStanding(ref);
  const missed = done && wanted !== null && standing.status !== wanted;
  const why = standing.attention ?? 'the books say otherwise';
  const said = missed
    ? { done: false, message: `The ${words.record} is ${standing.status}: ${why}.` }
    : { done, message };
  const force = command.force ? ' by force' : '';
  const detail = `${command.kind}${force}: ${said.message} (${command.reason})`;
  await activities.noteOperator({ ...ref, actor: command.actor, detail });
  attention.know({ operator: `Last command, by ${command.actor}: ${detail}` });
  return said;
}

async function settle<Own>(
  { ref, policy, activities, attention, pages }: Run<Own>,
  fact: FactReport<Own>,
  operator?: OperatorCommand,
): Promise<Step> {
  const by = operator && { operator: { actor: operator.actor, reason: operator.reason } };
  const settled = await activities.settle({ ...ref, fact, ...by });
  const closed = !isOpen(settled);
  if (closed && settled.attention === null) {
    attention.clear(settled.watched ? pages.watched : pages.done);
    // A record that ended stays with us only as long as an operator or a watch needs it.
    if (!settled.watched) return { do: 'end' };
  }
  return { do: 'ask', afterMs: policy.pollMaxMs, stuck: settled.attention, closed };
}

async function noteUnreadable<Own>({ ref, activities, inbox, attention }: Run<Own>): Promise<void> {
  for (let problem = inbox.unreadable.shift(); problem; problem = inbox.unreadable.shift()) {
    const detail = `a message was ignored: ${problem}`;
    await activities.noteOperator({ ...ref, actor: 'temporal', detail });
    attention.know({ operator: `Last command: ${detail}` });
  }
}

/** A call that did not come back says nothing about the money. */
const silence = (): CallReport => ({ kind: 'unknown', reason: 'activity_failed' });
