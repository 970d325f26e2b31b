import { Agent, request } from 'undici';
import { deserialize, serialize } from 'node:v8';
import { createLane, OverloadError, type Lane } from '../../shared/batching.js';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.js';
import { ApiError, OUTCOME_UNKNOWN } from '../../shared/errors.js';
import type { CommitAttempt, Mutation, MutationsByName, PlannedMutation } from './mutation.js';
import type { CommitProcess, CommitProcesses } from './processes.js';

/** A wallet is contended for this time after transactions of two processes have conflicted about it. */
const CONTENDED_MS = 60_000;
const MAX_CONTENDED = 10_000;
const MAX_BATCH = 256;
const MAX_WAITING = 4_096;
const MAX_WAIT_MS = 4_000;
/** A process that needs longer may have died. A batch that conflicts may take `RETRY_FOR_MS` in group-commit.ts. */
const ANSWER_WITHIN_MS = 3_000;

/** A mutation on its way to another process. */
export type ForwardedMutation = {
  name: string;
  input: PlannedMutation['input'];
  isRepeat: boolean;
};
/**
 * The result of a forwarded mutation. A refusal is described, because an error loses its class on the way. `failed`: any
 * other error; the sender commits the mutation itself, and so has the error as it is.
 */
export type ForwardedResult =
  { result: unknown } | { refused: DescribedError } | { overload: true } | { failed: true };
type DescribedError = Pick<
  ApiError,
  'code' | 'message' | 'field' | 'details' | 'retryAfterSeconds'
>;

/** Hands mutations of contended wallets to the one process that commits them. */
export type Forwarding = {
  /** Notes that a transaction which changed these tenants' wallets conflicted. */
  conflicted(tenantIds: Iterable<string>): void;
  /**
   * The result from the process that commits this tenant's mutations. Null: commit it here, and `planned.isRepeat` says if
   * the other process may have committed it.
   */
  forward(planned: PlannedMutation): Promise<CommitAttempt | null>;
};

/** Commits everything in this process. */
export const noForwarding: Forwarding = {
  conflicted: () => undefined,
  forward: async () => null,
};

/** Forwards the mutations of contended wallets. A mutation without a name in `mutations` is committed here. */
export function createForwarding(
  processes: CommitProcesses,
  mutations: MutationsByName,
): Forwarding & { close(): Promise<void> } {
  const agent = new Agent({ connections: 8, pipelining: 1, connectTimeout: 1_000 });
  const names = new Map(Object.entries(mutations).map(([name, mutation]) => [mutation, name]));
  const contended = new Map<string, number>();
  const lanes = new Map<string, Lane<ForwardedMutation, ForwardedResult | Unsent | Unknown>>();

  function isContended(tenantId: string): boolean {
    const until = contended.get(tenantId);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    contended.delete(tenantId);
    return false;
  }

  function laneTo(process: CommitProcess) {
    const known = lanes.get(process._id);
    if (known) return known;
    const lane = createLane<ForwardedMutation, ForwardedResult | Unsent | Unknown>({
      run: async (batch) => {
        const answer = await send(agent, process, batch);
        if (answer !== 'unsent' && answer !== 'unknown') return answer;
        processes.suspect(process);
        return batch.map(() => answer);
      },
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_WAITING,
      maxWaitMs: MAX_WAIT_MS,
    });
    lanes.set(process._id, lane);
    return lane;
  }

  return {
    conflicted(tenantIds) {
      if (contended.size > MAX_CONTENDED) contended.clear();
      for (const tenantId of tenantIds) {
        contended.set(tenantId, performance.now() + CONTENDED_MS);
      }
    },
    async forward(planned) {
      const { mutation, input } = planned;
      if (!isContended(input.tenantId)) return null;
      const name = names.get(mutation);
      const process = processes.committerOf(input.tenantId);
      if (name === undefined || process === null) return null;
      const answer = await laneTo(process).enqueue({
        name,
        input,
        isRepeat: planned.isRepeat === true,
      });
      if (answer === 'unsent') return null;
      const attempt = answer === 'unknown' ? null : toAttempt(answer);
      if (attempt === null) planned.isRepeat = true;
      return attempt;
    },
    close: () => agent.close(),
  };
}

/** The other process has not got the batch. */
type Unsent = 'unsent';
/** The other process may have got the batch, and may have committed it, or may do so still. */
type Unknown = 'unknown';

async function send(
  dispatcher: Agent,
  { url, token }: CommitProcess,
  batch: ForwardedMutation[],
): Promise<ForwardedResult[] | Unsent | Unknown> {
  try {
    const { statusCode, body } = await request(`${url}/commits`, {
      dispatcher,
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: serialize(batch),
      headersTimeout: ANSWER_WITHIN_MS,
      bodyTimeout: ANSWER_WITHIN_MS,
    });
    const bytes = Buffer.from(await body.arrayBuffer());
    // Any other status is the answer of a listener that has not read the batch.
    return statusCode === 200 ? (deserialize(bytes) as ForwardedResult[]) : 'unsent';
  } catch (error) {
    return NEVER_CONNECTED.has(codeOf(error)) ? 'unsent' : 'unknown';
  }
}

const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code);

/** The result of a mutation as it is sent back. */
export function describeAttempt(attempt: CommitAttempt): ForwardedResult {
  if ('result' in attempt) return attempt;
  const { error } = attempt;
  if (error instanceof OverloadError) return { overload: true };
  const refusal = isDatabaseUnavailable(error)
    ? new ApiError('service_unavailable', { message: OUTCOME_UNKNOWN })
    : error;
  if (!(refusal instanceof ApiError)) return { failed: true };
  const { code, message, field, details, retryAfterSeconds } = refusal;
  return { refused: { code, message, field, details, retryAfterSeconds } };
}

/** Null if the mutation must be committed here. */
function toAttempt(answer: ForwardedResult): CommitAttempt | null {
  if ('result' in answer) return answer;
  if ('failed' in answer) return null;
  if ('overload' in answer) return { error: new OverloadError() };
  const { code, message, field, details, retryAfterSeconds } = answer.refused;
  const extra = {
    message,
    ...(field !== undefined && { field }),
    ...(details !== undefined && { details }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
  return { error: new ApiError(code, extra) };
}

/** The mutation that has this name in this release. */
export function mutationNamed(mutations: MutationsByName, name: string): Mutation {
  const mutation = Object.hasOwn(mutations, name) ? mutations[name] : undefined;
  if (mutation === undefined) throw new Error(`there is no mutation ${name}`);
  return mutation;
}
