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
/** Pause between two announcements of one contended wallet. */
const ANNOUNCED_EVERY_MS = 5_000;
const MAX_BATCH = 256;
const MAX_WAITING = 4_096;
const MAX_WAIT_MS = 4_000;
/** A process that needs longer may have died. A batch that conflicts may take `RETRY_FOR_MS` in group-commit.ts. */
const ANSWER_WITHIN_MS = 3_000;
/**
 * A forwarded mutation is not decided after this time, because its sender gives up, and may refuse it, a second later. The second is
 * for clocks that differ.
 */
const DECIDED_WITHIN_MS = ANSWER_WITHIN_MS - 1_000;

/** A mutation on its way to another process. */
export type ForwardedMutation = {
  name: string;
  input: PlannedMutation['input'];
  isRepeat: boolean;
  /** By the clock of the sender, in milliseconds. */
  sentAt: number;
};

/** True once the sender may have given up, by this process's clock. */
export const isStale = ({ sentAt }: Pick<ForwardedMutation, 'sentAt'>): boolean =>
  Date.now() - sentAt > DECIDED_WITHIN_MS;
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

/**
 * The end of a forwarded mutation: `answered` by the other process, with a result or a refusal, or committed here. `unsent`: the
 * other process surely has not got it; `unknown`: it may have committed it; `failed`: its commit had an error.
 */
export type ForwardingResult = 'answered' | 'unsent' | 'unknown' | 'failed';
export const FORWARDING_RESULTS: readonly ForwardingResult[] = [
  'answered',
  'unsent',
  'unknown',
  'failed',
];

/** The forwarding of one process, as its metrics see it. */
type ObservedForwarding = {
  /** Calls `listener` after each forwarded mutation. It must not fail. */
  onForwarded(listener: (result: ForwardingResult) => void): void;
  /** The number of wallets whose mutations one process commits, as this process knows. */
  contendedWallets(): number;
};

/** The forwarding of one process, as other processes reach it. */
export type Announced = {
  /** Notes that the process which commits these tenants' mutations has conflicted with others. */
  noteContended(tenantIds: Iterable<string>): void;
};

/** Forwards the mutations of contended wallets. A mutation without a name in `mutations` is committed here. */
export function createForwarding(
  processes: CommitProcesses,
  mutations: MutationsByName,
): Forwarding & ObservedForwarding & Announced & { close(): Promise<void> } {
  const agent = new Agent({ connections: 8, pipelining: 1, connectTimeout: 1_000 });
  const names = new Map(Object.entries(mutations).map(([name, mutation]) => [mutation, name]));
  const contended = createContended();
  const telling = new Set<string>();
  const listeners: ((result: ForwardingResult) => void)[] = [];
  const lanes = new Map<string, Lane<Unforwarded, ForwardedResult | Unsent | Unknown>>();

  /**
   * A process whose transactions win learns of no conflict, and would go on to commit what another one is chosen for. So the
   * chosen one, whose transactions lose, tells the others.
   */
  async function announce(tenantIds: readonly string[]): Promise<void> {
    const others = await processes.others();
    const told = others.map(async (other) => {
      // One message to a process at a time: one that is frozen would occupy the connections that commits need.
      if (telling.has(other._id)) return;
      telling.add(other._id);
      // A message that is lost is repeated with a later conflict.
      await post(agent, other, '/contended', tenantIds).catch(() => null);
      telling.delete(other._id);
    });
    await Promise.all(told);
  }

  function laneTo(process: CommitProcess) {
    const known = lanes.get(process._id);
    if (known) return known;
    const lane = createLane<Unforwarded, ForwardedResult | Unsent | Unknown>({
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
    noteContended: (tenantIds) => contended.note(tenantIds),
    conflicted(tenantIds) {
      const ids = [...tenantIds];
      contended.note(ids);
      const own = ids.filter((tenantId) => processes.committerOf(tenantId) === null);
      const due = own.filter((tenantId) => contended.isDueForAnnouncement(tenantId));
      if (due.length > 0) void announce(due);
    },
    async forward(planned) {
      const { mutation, input } = planned;
      if (!contended.has(input.tenantId)) return null;
      const name = names.get(mutation);
      const process = processes.committerOf(input.tenantId);
      if (name === undefined || process === null) return null;
      const answer = await laneTo(process).enqueue({
        name,
        input,
        isRepeat: planned.isRepeat === true,
      });
      for (const listener of listeners) listener(resultOf(answer));
      if (answer === 'unsent') return null;
      const attempt = answer === 'unknown' ? null : toAttempt(answer);
      if (attempt === null) planned.isRepeat = true;
      return attempt;
    },
    onForwarded: (listener) => void listeners.push(listener),
    contendedWallets: () => contended.size(),
    close: () => agent.close(),
  };
}

/** The contended wallets that this process knows, by tenant. */
function createContended() {
  const until = new Map<string, number>();
  const announced = new Map<string, number>();

  function has(tenantId: string): boolean {
    const end = until.get(tenantId);
    if (end === undefined) return false;
    if (end > performance.now()) return true;
    until.delete(tenantId);
    return false;
  }

  return {
    has,
    size: () => [...until.keys()].filter(has).length,
    note(tenantIds: Iterable<string>): void {
      if (until.size > MAX_CONTENDED) until.clear();
      for (const tenantId of tenantIds) until.set(tenantId, performance.now() + CONTENDED_MS);
    },
    /** True if the others have not been told lately; then they are told now. */
    isDueForAnnouncement(tenantId: string): boolean {
      const last = announced.get(tenantId) ?? -Infinity;
      if (performance.now() - last < ANNOUNCED_EVERY_MS) return false;
      if (announced.size > MAX_CONTENDED) announced.clear();
      announced.set(tenantId, performance.now());
      return true;
    },
  };
}

function resultOf(answer: ForwardedResult | Unsent | Unknown): ForwardingResult {
  if (typeof answer === 'string') return answer;
  return 'failed' in answer ? 'failed' : 'answered';
}

type Unforwarded = Omit<ForwardedMutation, 'sentAt'>;
/** The other process has not got the batch. */
type Unsent = 'unsent';
/** The other process may have got the batch, and may have committed it, or may do so still. */
type Unknown = 'unknown';

async function post(
  dispatcher: Agent,
  { url, token }: CommitProcess,
  path: '/commits' | '/contended',
  content: unknown,
): Promise<{ statusCode: number; bytes: Buffer }> {
  const { statusCode, body } = await request(`${url}${path}`, {
    dispatcher,
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: serialize(content),
    headersTimeout: ANSWER_WITHIN_MS,
    bodyTimeout: ANSWER_WITHIN_MS,
  });
  return { statusCode, bytes: Buffer.from(await body.arrayBuffer()) };
}

async function send(
  dispatcher: Agent,
  process: CommitProcess,
  batch: readonly Unforwarded[],
): Promise<ForwardedResult[] | Unsent | Unknown> {
  const sentAt = Date.now();
  const sent = batch.map((each): ForwardedMutation => ({ ...each, sentAt }));
  try {
    const { statusCode, bytes } = await post(dispatcher, process, '/commits', sent);
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
