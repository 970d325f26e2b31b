import { judge } from '../src/pursuits/operator.js';
import { isOpen } from '../src/pursuits/record.js';
import type { FactReport, OperatorAnswer, OperatorCommand } from '../src/pursuits/reports.js';
import type { PendingCommand } from './operator-inbox.js';
import { silence, tellOfProvider } from './pursuit-calls.js';
import type { Run } from './pursuit-run.js';
import { nextStep, oneMoreTry, type Pursuit, type Step } from './pursuit-steps.js';

/** Does what an operator asked for, as far as the provider agrees, and answers. The provider is always asked first. */
export async function obey<Own>(
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

export async function settle<Own>(
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

export async function noteUnreadable<Own>({
  ref,
  activities,
  inbox,
  attention,
}: Run<Own>): Promise<void> {
  for (let problem = inbox.unreadable.shift(); problem; problem = inbox.unreadable.shift()) {
    const detail = `a message was ignored: ${problem}`;
    await activities.noteOperator({ ...ref, actor: 'temporal', detail });
    attention.know({ operator: `Last command: ${detail}` });
  }
}
