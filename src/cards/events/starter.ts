import type { Client } from '@temporalio/client';
import type { Log } from '../../log.js';
import { replaysQueue } from '../../temporal/queues.js';
import { createRecordStarter, type RecordStarter } from '../../temporal/record-starter.js';
import type { CardEventReplay, StoredCardEvent } from './event.js';
import {
  cardEventWorkflowId,
  replayWorkflowId,
  type CardEventInput,
  type ReplayInput,
} from './reports.js';

type Settings = { client: Client; taskQueue: string; log: Log };

export type CardEventStarter = Pick<RecordStarter<StoredCardEvent>, 'start' | 'startSoon' | 'idle'>;
export type ReplayStarter = Pick<RecordStarter<CardEventReplay>, 'start' | 'startSoon' | 'idle'>;

/** Starts the workflow that applies what an issuer told. */
export const createCardEventStarter = (
  settings: Settings & { scheduleMs: number[] },
): CardEventStarter =>
  createRecordStarter<StoredCardEvent>({
    ...settings,
    workflow: 'cardEvent',
    workflowId: ({ _id }) => cardEventWorkflowId(_id),
    toStart({ _id: id, tenant, card, provider, event, tries }) {
      const input: CardEventInput = { id, tries, scheduleMs: settings.scheduleMs };
      const summary = `${event} of ${card ?? 'an unknown card'}, told by ${provider}`;
      const reference = card ?? id;
      return { input, tenant: tenant ?? '', provider, reference, amountMinor: null, summary };
    },
  });

/** Starts the workflow that applies an event once more. */
export const createReplayStarter = (settings: Settings): ReplayStarter =>
  createRecordStarter<CardEventReplay>({
    ...settings,
    workflow: 'replay',
    workflowId: ({ _id }) => replayWorkflowId(_id),
    toStart({ _id: id, tenant, provider, event }) {
      const input: ReplayInput = { id, queue: replaysQueue(settings.taskQueue) };
      const summary = `${event} once more`;
      return { input, tenant, provider, reference: event, amountMinor: null, summary };
    },
  });
