import type { GroupCommit } from '../core/commit/group-commit.js';
import type { MutationInput } from '../core/commit/mutation.js';
import type { ObserveCall } from '../core/providers/observed.js';
import type { ObserveAttempt } from '../core/webhooks/attempts.js';
import { traceTime, type Tracer } from '../platform/tracing/tracer.js';
import { isAnyId, ownIdOf } from '../shared/ids.js';
import { isInstruction, isOutcome } from './outcome-metrics.js';
import { logIdsOf } from './workflow-ids.js';

/** The time of the begin of something that has just ended. */
const secondsAgo = (seconds: number) => traceTime() - seconds * 1000;

/** The commits with a span for each one about a record. */
export function withCommitSpans(commits: GroupCommit, tracer: Tracer): GroupCommit {
  if (!tracer.isOn) return commits;
  return {
    ...commits,
    async commit(mutation, input) {
      const startedAt = traceTime();
      let error: string | undefined = 'not_committed';
      try {
        const result = await commits.commit(mutation, input);
        error = undefined;
        return result;
      } finally {
        const resource = recordOf(input);
        if (resource !== null) {
          const about = { name: 'commit', kind: 'internal', resource } as const;
          const attributes = { 'bursar.tenant': input.tenantId };
          tracer.record({ ...about, parent: 'request', startedAt, attributes, error });
        }
      }
    },
  };
}

/** The id of the record that a mutation is about: named, or that of the record that it creates. */
function recordOf(input: MutationInput): string | null {
  if (isAnyId(input.id)) return input.id;
  const created = Object.values(input).map((value: unknown) =>
    typeof value === 'object' && value !== null && '_id' in value ? value._id : null,
  );
  return created.find(isAnyId) ?? null;
}

/** Records a span for the workflow of each instruction that a commit has ended: from its acceptance to its outcome. */
export function traceOutcomes(commits: Pick<GroupCommit, 'onChanged'>, tracer: Tracer): void {
  if (!tracer.isOn) return;
  commits.onChanged((changes) => {
    for (const { collection, before, after } of changes) {
      if (!isInstruction(after) || !isOutcome(before, after)) continue;
      const { workflow_id: workflowId, resource } = logIdsOf(collection, after);
      tracer.record({
        name: `workflow ${collection}`,
        kind: 'internal',
        resource,
        step: 'workflow',
        parent: 'request',
        startedAt: after.created_at.getTime(),
        attributes: {
          'temporal.workflow_id': workflowId,
          'bursar.outcome': after.status,
          'bursar.provider': after.provider,
        },
      });
    }
  });
}

/** Records a span for each call to a provider about a record, with the provider's id of the request. */
export const traceProviderCalls =
  (tracer: Tracer): ObserveCall =>
  ({ capability, provider, call, result, seconds, given, requestId, failed }) => {
    if (!tracer.isOn) return;
    const resource = recordOfCall(given, tracer);
    tracer.record({
      name: `${provider} ${capability}.${call}`,
      kind: 'client',
      resource,
      parent: 'workflow',
      startedAt: secondsAgo(seconds),
      attributes: {
        'bursar.provider': provider,
        'bursar.result': result,
        'bursar.provider_request_id': requestId ?? undefined,
      },
      error: failed ? result : undefined,
    });
  };

/** The record that a call to a provider is about: that which its argument names, or whose activity makes it. */
export const recordOfCall = (given: unknown, tracer: Pick<Tracer, 'current'>): string | null =>
  resourceIn(given) ?? tracer.current();

/** The id of ours that the argument of a call names: a reference, which may have the number of an attempt. */
function resourceIn(given: unknown): string | null {
  const values = typeof given === 'object' && given !== null ? Object.values(given) : [given];
  for (const value of values) {
    const id = typeof value === 'string' ? ownIdOf(value) : null;
    if (id !== null) return id;
  }
  return null;
}

/** Records a span for each attempt to deliver an event. */
export const traceAttempts =
  (tracer: Tracer): ObserveAttempt =>
  ({ result, seconds, delivery, status }) => {
    if (!tracer.isOn) return;
    tracer.record({
      name: `webhook ${delivery.name}`,
      kind: 'client',
      resource: delivery.resource_id,
      parent: 'workflow',
      startedAt: secondsAgo(seconds),
      attributes: {
        'http.response.status_code': status ?? undefined,
        'bursar.event': delivery.event_id,
        'bursar.endpoint': delivery.endpoint_id,
        'bursar.tenant': delivery.tenant_id,
      },
      error: result === 'taken' ? undefined : result,
    });
  };
