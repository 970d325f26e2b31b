import { CancellationScope, condition, setHandler } from '@temporalio/workflow';
import type { ProviderEventInput } from '../src/core/provider-events/workflow-contract.js';
import { createAttention } from './instruction/attention.js';
import { recordChangedSignal } from './instruction/operator-messages.js';
import { localActivities } from './local-activities.js';
import { ownStore } from './policies.js';

const store = localActivities(ownStore);

const WHAT_TO_DO =
  'Find out what it is about (`bursar provider-events list --attention`), and replay it once that is there: `bursar events replay`.';

/**
 * Applies what an issuer told. The guard of its subject decides, so it does not matter how often or how late. Its id is
 * `provider-event/<event id>`. One that can't be applied is tried again for a while; then it waits here to be replayed. A
 * cancellation changes nothing: the record would only bring it back.
 */
export async function providerEvent(input: ProviderEventInput): Promise<void> {
  await CancellationScope.nonCancellable(() => applyUntilEnded(input));
}

async function applyUntilEnded({ id, scheduleMs, ...begin }: ProviderEventInput): Promise<void> {
  let awake = false;
  setHandler(recordChangedSignal, () => void (awake = true), {
    description: 'Look at the event now: it was replayed.',
  });
  // What the record says of it is written by the try itself.
  const attention = createAttention({
    dueAtMs: Infinity,
    provider: 'issuer',
    record: async () => undefined,
  });
  for (let { tries } = begin; ; tries += 1) {
    const nextMs = scheduleMs[tries] ?? null;
    const report = await store.applyProviderEvent({ id, nextMs });
    if (report.kind === 'done') break;
    if (report.kind === 'failed') await attention.raise(report.reason, WHAT_TO_DO);
    // A replay may come in between, and then there is nothing left to do.
    if (report.kind === 'failed') await condition(() => awake);
    else await condition(() => awake, nextMs ?? 0);
    awake = false;
  }
  attention.clear('Applied.');
}
