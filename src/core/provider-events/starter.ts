import type { Client } from '@temporalio/client';
import type { Log } from '../../shared/log.js';
import { providerEventReplaysQueue } from '../../platform/temporal/queues.js';
import { createWorkflowStarter, type WorkflowStarter } from '../supervision/workflow-starter.js';
import type { CardEventReplay, StoredCardEvent } from './event.js';
import {
  providerEventWorkflowId,
  providerEventReplayWorkflowId,
  type ProviderEventInput,
  type ProviderEventReplayInput,
} from './workflow-contract.js';

type Settings = { client: Client; taskQueue: string; log: Log };

export type CardEventStarter = Pick<
  WorkflowStarter<StoredCardEvent>,
  'start' | 'startSoon' | 'idle'
>;
export type ReplayStarter = Pick<WorkflowStarter<CardEventReplay>, 'start' | 'startSoon' | 'idle'>;

/** Starts the workflow that applies what an issuer told. */
export const createCardEventStarter = (
  settings: Settings & { scheduleMs: number[] },
): CardEventStarter =>
  createWorkflowStarter<StoredCardEvent>({
    ...settings,
    workflow: 'providerEvent',
    workflowId: ({ _id }) => providerEventWorkflowId(_id),
    toStart({
      _id: id,
      tenant_id: tenantId,
      card_id: card,
      provider,
      event,
      attempt_count: attemptCount,
    }) {
      const input: ProviderEventInput = { id, attemptCount, scheduleMs: settings.scheduleMs };
      const summary = `${event} of ${card ?? 'an unknown card'} via ${provider}`;
      const reference = card ?? id;
      return { input, tenantId: tenantId ?? '', provider, reference, amountMinor: null, summary };
    },
  });

/** Starts the workflow that applies an event once more. */
export const createReplayStarter = (settings: Settings): ReplayStarter =>
  createWorkflowStarter<CardEventReplay>({
    ...settings,
    workflow: 'providerEventReplay',
    workflowId: ({ _id }) => providerEventReplayWorkflowId(_id),
    toStart({ _id: id, tenant_id: tenantId, provider, event_id: event }) {
      const input: ProviderEventReplayInput = {
        id,
        taskQueue: providerEventReplaysQueue(settings.taskQueue),
      };
      const summary = `replay of ${event}`;
      return { input, tenantId, provider, reference: event, amountMinor: null, summary };
    },
  });
