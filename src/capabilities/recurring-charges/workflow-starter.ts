import { failpoint } from '../../shared/failpoints.js';
import {
  createWorkflowStarter,
  type StarterSettings,
} from '../../core/supervision/workflow-starter.js';
import { inWords, specOf, type Spec } from './schedule.js';
import { isDue, renewalWorkflowId, type RecurringCharge, isOver, scheduleId } from './record.js';
import type { RenewalInput } from './workflow-contract.js';
import { isDeepStrictEqual } from 'node:util';
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleDescription,
} from '@temporalio/client';
import { TEMPORAL_DEADLINE_MS } from '../../platform/temporal/client.js';
import { searchAttributes } from '../../platform/temporal/search-attributes.js';

/** A Schedule catches up on the times that it missed while the server was down, for up to a year. */
const CATCH_UP_MS = 365 * 24 * 60 * 60 * 1000;

/** Creates, updates and deletes the Schedules of recurring charges. */
export type Schedules = ReturnType<typeof createSchedules>;

/**
 * Creates, updates and deletes the Schedules of recurring charges. A Schedule only starts the renewal; the record decides
 * which periods are charged. So a Schedule that is late, missing or changed by an operator does no harm, and recovery
 * repairs it.
 */
export function createSchedules({ client, taskQueue }: { client: Client; taskQueue: string }) {
  const within = <T>(call: () => Promise<T>): Promise<T> =>
    client.connection.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, call);

  function optionsOf(recurring: RecurringCharge) {
    const { _id: id, tenant_id: tenantId, payment_token_id: token } = recurring;
    const input: RenewalInput = { tenantId, id };
    return {
      spec: specOf(recurring),
      action: {
        type: 'startWorkflow' as const,
        workflowType: 'recurringChargeRenewal',
        workflowId: renewalWorkflowId(id),
        taskQueue,
        args: [input],
        typedSearchAttributes: [{ key: searchAttributes.tenantId, value: tenantId }],
        staticSummary: inWords({ ...recurring, status: 'active' }),
      },
      policies: {
        // Runs never overlap: times that pass during a run cause one more check afterwards.
        overlap: ScheduleOverlapPolicy.BUFFER_ONE,
        catchupWindow: CATCH_UP_MS,
      },
      state: { paused: recurring.status === 'paused', note: inWords(recurring) },
      memo: { payment_token: token },
      typedSearchAttributes: [
        { key: searchAttributes.tenantId, value: tenantId },
        { key: searchAttributes.reference, value: id },
        { key: searchAttributes.amountMinor, value: Number(recurring.amount_minor) },
      ],
    };
  }

  async function make(recurring: RecurringCharge): Promise<void> {
    const options = { scheduleId: scheduleId(recurring._id), ...optionsOf(recurring) };
    try {
      await within(() => client.schedule.create(options));
    } catch (error) {
      // Another process has just created the Schedule of the same record.
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  }

  return {
    /**
     * Creates, updates, pauses or deletes the Schedule so that it agrees with the record. A Schedule that agrees is
     * only read.
     */
    async keep(recurring: RecurringCharge): Promise<void> {
      const handle = client.schedule.getHandle(scheduleId(recurring._id));
      try {
        if (isOver(recurring)) return await within(() => handle.delete());
        const found = await within(() => handle.describe());
        const { spec, action, policies, state } = optionsOf(recurring);
        if (isAsWanted(found, { spec, policies, state })) return;
        await within(() => handle.update(() => ({ spec, action, policies, state })));
      } catch (error) {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
        if (!isOver(recurring)) await make(recurring);
      }
    },
  };
}

type Wanted = {
  spec: Spec;
  policies: { overlap: string; catchupWindow: number };
  state: { paused: boolean; note: string };
};

function isAsWanted({ spec, policies, state }: ScheduleDescription, wanted: Wanted): boolean {
  const { calendars = [], intervals = [], timezone = '', startAt = null, endAt } = spec;
  const { overlap, catchupWindow } = policies;
  const present = {
    spec: { calendars, intervals, timezone, startAt, ...(endAt && { endAt }) },
    policies: { overlap: String(overlap), catchupWindow },
    state: { paused: state.paused, note: state.note ?? '' },
  };
  return isDeepStrictEqual(present, wanted);
}

/** Starts renewals and keeps the Schedules of recurring charges. */
export type RecurringStarter = ReturnType<typeof createRecurringStarter>;

/** Creates the starter of recurring charges. It keeps the Schedule of each in Temporal, and starts a renewal if a period is due. */
export function createRecurringStarter(settings: StarterSettings) {
  const { log } = settings;
  const schedules = createSchedules(settings);
  const renewals = createWorkflowStarter<RecurringCharge>({
    ...settings,
    workflow: 'recurringChargeRenewal',
    workflowId: ({ _id }) => renewalWorkflowId(_id),
    toStart(recurring) {
      const { _id: reference, tenant_id: tenantId, amount_minor: amountMinor } = recurring;
      const input: RenewalInput = { tenantId, id: reference };
      const summary = inWords(recurring);
      return { input, tenantId, provider: null, reference, amountMinor, summary };
    },
  });
  const underWay = new Set<Promise<void>>();

  async function start(recurring: RecurringCharge): Promise<void> {
    // Starts the renewal first, because a customer may wait for it.
    if (isDue(recurring, new Date())) await renewals.start(recurring);
    failpoint('schedule.before');
    await schedules.keep(recurring);
    failpoint('schedule.after');
  }

  return {
    schedules,
    start,

    /** Starts in the background. If it fails, the dispatcher does it later. */
    startSoon(recurring: RecurringCharge): void {
      const attempt = start(recurring)
        .catch((error: unknown) => {
          const which = { resource: recurring._id, tenant: recurring.tenant_id };
          log.warn({ err: error, ...which }, 'schedule update failed, dispatcher will retry');
        })
        .finally(() => underWay.delete(attempt));
      underWay.add(attempt);
    },

    /** Resolves when no start is in flight. */
    idle: async () => void (await Promise.all(underWay)),
  };
}
