import { CancellationScope, condition, setHandler } from '@temporalio/workflow';
import type { ProviderEventInput } from '../src/core/provider-events/workflow-contract.js';
import { attributeOnly, untilStored } from './instruction/blocked.js';
import { recordChangedSignal } from './instruction/operator-messages.js';
import { localActivities } from './local-activities.js';
import { ownStore } from './policies.js';

const store = localActivities(ownStore);

const NEXT_STEPS =
  'Find the record that the event is about (`bursar provider-events list --attention`). Once it exists, replay the event: `bursar provider-events replay`.';

/**
 * Applies a stored provider event. The record's transitions make repeats and late events harmless. An event that cannot
 * be applied is retried on its schedule; after that the run waits for a replay, under `NeedsAttention`. Its id is
 * `provider-event/<event id>`. A cancellation is ignored, because the dispatcher would start it again.
 */
export async function providerEvent(input: ProviderEventInput): Promise<void> {
  await CancellationScope.nonCancellable(() => applyUntilEnded(input));
}

async function applyUntilEnded({ id, scheduleMs, ...start }: ProviderEventInput): Promise<void> {
  let changed = false;
  setHandler(recordChangedSignal, () => void (changed = true), {
    description: 'Applies the event now, because it was replayed.',
  });
  // The activity writes attention to the record itself.
  const untilChanged = async (ms: number) => {
    changed = false;
    await condition(() => changed, ms);
  };
  const attention = attributeOnly();
  for (let { attemptCount } = start; ; attemptCount += 1) {
    const nextMs = scheduleMs[attemptCount] ?? null;
    const result = await untilStored(() => store.applyProviderEvent({ id, nextMs }), {
      attention,
      pause: untilChanged,
    });
    if (result.kind === 'done') break;
    if (result.kind === 'failed') await attention.raise(result.reason, NEXT_STEPS);
    if (result.kind === 'failed') await condition(() => changed);
    else await condition(() => changed, nextMs ?? 0);
    changed = false;
  }
  attention.clear('Applied.');
}
