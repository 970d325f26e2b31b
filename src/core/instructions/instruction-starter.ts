import type { Client } from '@temporalio/client';
import type { Config } from '../../shared/config.js';
import type { Log } from '../../shared/log.js';
import type { InstructionRecord } from './instruction.js';
import { MAX_ERRORS, MAX_SUBMISSIONS, type InstructionInput } from './workflow-contract.js';
import { providerQueue } from '../../platform/temporal/queues.js';
import {
  createWorkflowStarter,
  type InstructionStarterSettings,
  type StarterSettings,
  type WorkflowStarter,
} from '../supervision/workflow-starter.js';

/** A record that moves no money has no amount. */
type Instruction = InstructionRecord & { reference?: string; amount_minor?: bigint | null };

/** The settings of every starter in this deployment. */
export const starterSettings = ({
  client,
  config,
  startsEagerly,
  completionWaiters,
  log,
}: Pick<StarterSettings, 'startsEagerly' | 'completionWaiters'> & {
  client: Client;
  config: Pick<Config, 'instructions' | 'temporal'>;
  log: Log;
}): InstructionStarterSettings => {
  const { attentionAfterMs, pollMaxMs } = config.instructions;
  const bounds = { maxSubmissions: MAX_SUBMISSIONS, maxErrors: MAX_ERRORS };
  const policy = { attentionAfterMs, pollMaxMs, ...bounds };
  const { taskQueue } = config.temporal;
  return { client, taskQueue, startsEagerly, completionWaiters, policy, log };
};

/** The differences between the starters of two capabilities. */
export type InstructionStarterOptions<R extends Key, Key extends { _id: string }> = {
  /** Type of the workflow. */
  workflow: string;
  workflowId: (record: Key) => string;
  /** The rate limit that calls to a provider take from. */
  rateLimitKey: (provider: string) => string;
  /** The line about the workflow in Temporal's list. */
  summary: (record: R) => string;
  /** The time from which an operator's attention is counted; the record's creation if missing. */
  acceptedAt?: (record: R) => Date;
  /** The workflow's input, if it is more than that of every instruction. */
  input?: (record: R, base: InstructionInput) => InstructionInput;
};

/** Creates the starter of the workflow that executes one instruction. */
export function createInstructionStarter<
  R extends Instruction & Key,
  Key extends { _id: string } = { _id: string },
>(
  { policy, ...settings }: InstructionStarterSettings,
  options: InstructionStarterOptions<R, Key>,
): WorkflowStarter<R, Key> {
  const { workflow, workflowId, summary } = options;
  const acceptedAtOf = options.acceptedAt ?? (({ created_at: createdAt }) => createdAt);
  const inputOf = options.input ?? ((_, base) => base);
  return createWorkflowStarter<R, Key>({
    ...settings,
    workflow,
    workflowId,
    toStart(record) {
      const { _id: id, tenant_id: tenantId, provider, amount_minor: amountMinor = null } = record;
      const rateLimitKey = options.rateLimitKey(provider);
      const base: InstructionInput = {
        id,
        tenantId,
        rateLimitKey,
        taskQueue: providerQueue(settings.taskQueue, rateLimitKey),
        acceptedAtMs: acceptedAtOf(record).getTime(),
        policy,
      };
      return {
        input: inputOf(record, base),
        tenantId,
        provider,
        // Tenants choose their own references, which may be personal data: those are never in Temporal.
        reference: id,
        amountMinor,
        summary: summary(record),
      };
    },
  });
}
