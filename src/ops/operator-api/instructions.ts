import {
  isGrpcServiceError,
  ServiceError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { z } from 'zod';
import { capabilities } from '../../composition/capabilities.js';
import type { Deps } from '../../composition/deps.js';
import type { OperatedInstruction } from '../../core/capability.js';
import { OPERATOR_COMMANDS } from '../../core/instructions/operator-commands.js';
import {
  type InstructionRecord,
  timelineWithDeliveries,
  type TimelineEntry,
} from '../../core/instructions/instruction.js';
import type {
  InstructionLabels,
  OperatorCommand,
} from '../../core/instructions/workflow-contract.js';
import { workflowPage } from '../../platform/temporal/pages.js';
import { operation, type Operation } from '../../platform/http/operation.js';
import { sendData } from '../../platform/http/respond.js';
import { route, type Route } from '../../platform/http/routes.js';
import { ApiError } from '../../shared/errors.js';
import type { OperatorDeps } from './deps.js';
import { READERS, WORKERS } from './roles.js';
import { amount, anyId, existing, flag, LISTED, printed, printedList, reason } from './schema.js';
import { actOf } from './sign-in.js';

type Kind = OperatorCommand['kind'];
type Labels = Pick<InstructionLabels, 'record' | 'provider'>;

const commandBody = z.strictObject({
  reason,
  session_id: z.string().min(1).max(64).optional().meta({
    description:
      'For complete: the session id that the provider has told you. It must report the same.',
  }),
  amount_minor: amount.optional().meta({
    description:
      'For complete: the amount that the provider reports in place of the requested one, in kobo.',
  }),
  attempt: z.int().min(1).max(9_999).optional().meta({
    description: 'For complete of a charge: the attempt that was paid, beside the amount.',
  }),
  force: z.boolean().default(false).meta({
    description:
      'For complete and fail: also if the provider does not confirm it. A second person must approve it.',
  }),
  absent: z.boolean().default(false).meta({
    description:
      'For retry: you attest that the provider never executes what was submitted. If it does not know it, it is submitted once more.',
  }),
});

/** The answer to a command. */
const commandAnswer = z.object({
  id: z.string(),
  done: z.boolean(),
  message: z.string(),
  status: z.string(),
  approval: z.string().optional().meta({
    description: 'The request that a second person must approve; the command was not done.',
  }),
});

/** The operations for the instructions of a capability: a list, one record, and a command of each kind. */
export const instructionOperations = (capability: string, labels: Labels) => ({
  list: operation({
    id: `${capability}.list`,
    tag: capability,
    method: 'get',
    path: `/${capability}` as const,
    summary: `List the latest ${LISTED}; with attention, those that need an operator`,
    roles: READERS,
    query: z.strictObject({ attention: flag }),
    answer: { status: 200, data: printedList },
  }),
  show: operation({
    id: `${capability}.show`,
    tag: capability,
    method: 'get',
    path: `/${capability}/{id}` as const,
    summary: `Show one ${labels.record} with its timeline`,
    roles: READERS,
    params: { id: anyId },
    answer: { status: 200, data: z.object({ record: printed, timeline: printedList }) },
  }),
  command: (kind: Kind) =>
    operation({
      id: `${capability}.${kind}`,
      tag: capability,
      method: 'post',
      path: `/${capability}/{id}/${kind}` as const,
      summary: describeCommand(kind, labels),
      roles: WORKERS,
      params: { id: anyId },
      body: commandBody,
      answer: { status: 200, data: commandAnswer },
    }),
});

/** The effect of a command, in the words of a capability. */
export function describeCommand(kind: Kind, { provider }: Labels): string {
  switch (kind) {
    case 'retry':
      return `verify with the ${provider} now and often; submit again if the ${provider} rules it out`;
    case 'verify':
      return `verify with the ${provider} now, and apply the answer`;
    case 'complete':
      return `complete it if the ${provider} confirms that it was carried out`;
    case 'fail':
      return `fail it if the ${provider} confirms that it was not carried out`;
  }
}

/** The routes for the instructions of all capabilities, derived from their list. */
export const instructionRoutes = (deps: OperatorDeps): Route[] =>
  capabilities.flatMap(({ name, instruction }) =>
    instruction ? routesOf(deps, name, instruction) : [],
  );

function routesOf(
  deps: OperatorDeps,
  capability: string,
  instruction: OperatedInstruction<Deps>,
): Route[] {
  const { list, show, command } = instructionOperations(capability, instruction.labels);
  const { store, starter } = instruction.records(deps);
  return [
    route(list, async (ctx, { query: { attention } }) => {
      const found = await store.latest({ attention, limit: LISTED });
      sendData(
        ctx,
        200,
        found.map((record) => instruction.presentRow(record)),
      );
    }),

    route(show, async (ctx, { params }) => {
      const record = await existing(store.find(params.id), instruction.labels.record);
      const deliveries = await deps.webhooks.deliveries.timelineOf(record.tenant_id, record._id);
      const page = workflowPage(deps.config.temporal, starter.workflowId(record));
      sendData(ctx, 200, shownRecord(instruction, record, deliveries, page));
    }),

    ...OPERATOR_COMMANDS.map((kind) => commandRoute(deps, capability, instruction, command(kind))),
  ];
}

/**
 * A record as operators see it: with the request that created it, which its first entry names too, and the address of its
 * workflow's page; null without one.
 */
export function shownRecord(
  { presentDetails }: Pick<OperatedInstruction<never>, 'presentDetails'>,
  record: InstructionRecord,
  deliveries: readonly TimelineEntry[],
  page: string | null,
) {
  const { http_request_id: requestId = null, timeline } = record;
  const created = requestId === null ? undefined : timeline[0];
  return {
    record: { ...presentDetails(record), http_request_id: requestId, temporal_page: page },
    timeline: timelineWithDeliveries(record, deliveries).map((entry) => ({
      ...entry,
      at: entry.at.toISOString(),
      ...(entry === created && { internal: `request ${requestId}` }),
    })),
  };
}

type CommandOperation = ReturnType<ReturnType<typeof instructionOperations>['command']>;

function commandRoute(
  deps: OperatorDeps,
  capability: string,
  instruction: OperatedInstruction<Deps>,
  declared: CommandOperation,
): Route {
  const kind = kindOf(declared);
  const { store, starter } = instruction.records(deps);
  return route(declared, async (ctx, { params, body }) => {
    const record = await existing(store.find(params.id), instruction.labels.record);
    const { reason: why, session_id: sessionId = null, amount_minor: amountMinor, attempt } = body;
    if (attempt !== undefined && !instruction.labels.hasAttempts) {
      throw new ApiError('validation_error', { field: 'attempt', message: 'It has no attempts.' });
    }
    const of = { tenantId: record.tenant_id, reason: why };
    const act = actOf(ctx, `${capability}.${kind}`, record._id, of);
    // The workflow gets the id of the stored command. Who sent it, and its approval, are read from the database.
    const command = await deps.operatorActs.open(act, {
      force: body.force,
      absent: body.absent,
      sessionId,
      amountMinor,
      attempt,
    });
    const payload = {
      command,
      actor: act.actor.name,
      reason: why,
      session_id: sessionId,
      ...(amountMinor !== undefined && { amount_minor: amountMinor }),
      ...(attempt !== undefined && { attempt }),
      ...(body.absent && { absent: true }),
      force: body.force,
    };
    const answer = await starter.command(record, kind, payload).catch(unlessTemporal);
    const { status } = (await store.find(record._id)) ?? record;
    const { done, message, approval } = answer;
    const needs = approval === undefined ? {} : { approval };
    sendData(ctx, 200, { id: record._id, done, message, status, ...needs });
  });
}

const kindOf = ({ id }: Operation): Kind => id.slice(id.lastIndexOf('.') + 1) as Kind;

/** A silence of Temporal becomes a 503 that says what to do; every other error is thrown as it is. */
function unlessTemporal(error: unknown): never {
  const isTemporal =
    error instanceof ServiceError ||
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    isGrpcServiceError(error);
  if (!isTemporal) throw error;
  const message =
    'Temporal or the worker does not answer. The command may still be carried out: show the record before you repeat it.';
  throw new ApiError('service_unavailable', { message, cause: error });
}
