import { providerEventReplaysQueue } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type StarterSettings,
  type WorkflowStarter,
} from '../supervision/workflow-starter.js';
import type { ProviderEventApplication } from './apply.js';
import type { ProviderEvent, ProviderEventReplay } from './event.js';
import type { ProviderEventStore } from './store.js';
import {
  providerEventReplayWorkflowId,
  providerEventWorkflowId,
  type ProviderEventInput,
  type ProviderEventReplayInput,
} from './workflow-contract.js';

/** Starts the workflows of provider events, for the dispatcher. */
type ProviderEventStarter = Pick<WorkflowStarter<ProviderEvent>, 'start'>;
/** Starts the workflows of replays. */
export type ReplayStarter = Pick<
  WorkflowStarter<ProviderEventReplay>,
  'start' | 'startSoon' | 'idle'
>;

/**
 * Starts the workflow of an event that is due. If the most workflows of its provider and type are open, the event is
 * applied once without one, or waits in the list if it has failed: either way it ends or calls an operator.
 */
export function createProviderEventStarter(
  settings: StarterSettings & {
    scheduleMs: number[];
    store: Pick<ProviderEventStore, 'takeWorkflowSlot' | 'unschedule'>;
    application: Pick<ProviderEventApplication, 'applyWithoutWorkflow'>;
  },
): ProviderEventStarter {
  const { store, application, scheduleMs } = settings;
  const workflows = createWorkflowStarter<ProviderEvent>({
    ...settings,
    workflow: 'providerEvent',
    workflowId: ({ _id }) => providerEventWorkflowId(_id),
    toStart({ _id: id, tenant_id: tenantId, provider, event, facts, attempt_count: attemptCount }) {
      const input: ProviderEventInput = { id, attemptCount, scheduleMs };
      const reference = facts[0]?.reference ?? id;
      const summary = `${event} of ${reference} via ${provider}`;
      return { input, tenantId, provider, reference, amountMinor: null, summary };
    },
  });
  return {
    async start(event) {
      const hasFailed = event.status === 'failed';
      if (await store.takeWorkflowSlot(event)) await workflows.start(event);
      else if (!hasFailed) await application.applyWithoutWorkflow(event);
      if (hasFailed) await store.unschedule(event._id);
    },
  };
}

/** Starts the workflow that applies an event again. */
export const createReplayStarter = (settings: StarterSettings): ReplayStarter =>
  createWorkflowStarter<ProviderEventReplay>({
    ...settings,
    workflow: 'providerEventReplay',
    workflowId: ({ _id }) => providerEventReplayWorkflowId(_id),
    toStart({ _id: id, tenant_id, provider, event_id: event }) {
      const input: ProviderEventReplayInput = {
        id,
        taskQueue: providerEventReplaysQueue(settings.taskQueue),
      };
      const tenantId = tenant_id === '' ? null : tenant_id;
      const summary = `replay of ${event}`;
      return { input, tenantId, provider, reference: event, amountMinor: null, summary };
    },
  });
