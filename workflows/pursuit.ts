import {
  allHandlersFinished,
  CancellationScope,
  condition,
  workflowInfo,
} from '@temporalio/workflow';
import type { Words } from '../src/pursuits/words.js';
import { createAttention } from './attention.js';
import { hasMail, openInbox, type Inbox } from './operator-inbox.js';
import { call } from './pursuit-calls.js';
import { noteUnreadable, obey, settle } from './pursuit-commands.js';
import { pagesOf } from './pursuit-pages.js';
import type { Deadline, Run, Subject } from './pursuit-run.js';
import { newPursuit } from './pursuit-steps.js';

/** The clock that woke us and that of the store may differ a little. */
const CLOCKS_DIFFER_MS = 100;

/**
 * Keeps one accepted record: lets the order out once, asks before it lets it out again, and settles what is proven.
 * The record decides; this run drives, and may be ended and started again at any moment. A cancellation is noted and
 * changes nothing: the money may be on its way.
 */
export async function pursue<Own>(subject: Subject<Own>): Promise<void> {
  const inbox = openInbox(pagesOf(subject.words).descriptions);
  const noteCancellation = () => subject.activities.noteCancellation(subject.ref);
  await despiteCancellation(noteCancellation, () => drive(subject, inbox));
}

/**
 * Keeps what an entity has open, one record after the other, and ends when it has none. Who changes which that is
 * wakes this run, or starts one: a signal that comes while the last look is taken brings another look.
 */
export async function pursueInTurn<Own>(
  words: Words,
  next: () => Promise<Subject<Own> | null>,
): Promise<void> {
  const inbox = openInbox(pagesOf(words).descriptions);
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
      await drive(subject, inbox);
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

async function drive<Own>(subject: Subject<Own>, inbox: Inbox): Promise<void> {
  const { ref, policy, words, activities } = subject;
  const pages = pagesOf(words);
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
