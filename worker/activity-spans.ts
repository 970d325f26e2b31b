import type {
  ActivityInboundCallsInterceptor,
  ActivityInterceptorsFactory,
} from '@temporalio/worker';
import type { Tracer } from '../src/platform/tracing/tracer.js';
import { isAnyId } from '../src/shared/ids.js';

/**
 * Interceptors that record a span for each activity, in the trace of each record that it is about. They change no history:
 * nothing of a trace is in a workflow, because traces follow from the ids of records.
 */
export function activitySpans(tracer: Tracer): ActivityInterceptorsFactory[] {
  if (!tracer.isOn) return [];
  return [
    ({ info: { activityType, attempt, workflowExecution } }) => {
      const inbound: ActivityInboundCallsInterceptor = {
        execute: (input, next) =>
          tracer.activity(
            {
              resources: resourcesIn(input.args[0]),
              name: `activity ${activityType}`,
              attributes: {
                'temporal.workflow_id': workflowExecution?.workflowId,
                'temporal.attempt': attempt,
              },
            },
            () => next(input),
          ),
      };
      return { inbound };
    },
  ];
}

/** The ids of the records that the argument of an activity names: its own, or those of a micro-batch. */
function resourcesIn(given: unknown): string[] {
  if (typeof given !== 'object' || given === null) return [];
  const { id, transfers } = given as { id?: unknown; transfers?: unknown };
  const named = Array.isArray(transfers)
    ? transfers.map((each: { id?: unknown } | null) => each?.id)
    : [id];
  return named.filter(isAnyId);
}
