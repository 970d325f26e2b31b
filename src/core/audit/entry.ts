import { createHash } from 'node:crypto';

/** JSON as the audit log keeps it: numbers are integers, amounts are in kobo. */
export type AuditedJson =
  | string
  | number
  | boolean
  | null
  | readonly AuditedJson[]
  | { readonly [name: string]: AuditedJson };

/** The state of a target before or after an act: the fields that operators know it by, never a secret. */
export type AuditedState = { readonly [name: string]: AuditedJson } | null;

/**
 * The operator of an act. `claim`: nobody has signed in; the message was sent through Temporal, and names somebody in it.
 */
export type Actor = {
  operator: string | null;
  name: string;
  roles: readonly string[];
  claim?: true;
};

/** One act of an operator, as it is known before it happens. The id makes a repeat write no second entry. */
export type Act = {
  id: string;
  actor: Actor;
  /** Capability and verb, such as `transfers.fail`. */
  action: string;
  target: string;
  tenantId: string | null;
  reason: string | null;
  requestId: string | null;
  /** The approval that the act uses. */
  approval: string | null;
  /**
   * The state of the target, as `canonical` has it, in which the act needs no approval. In another one, an act without approval
   * is not carried out.
   */
  unapprovedState?: string;
};

/** The actor of an act and its reason in words, for operators. */
export const describeActor = ({ actor, reason }: Pick<Act, 'actor' | 'reason'>): string => {
  const who = actor.claim ? `says to be ${actor.name}` : `${actor.name} (${actor.operator})`;
  return reason === null ? who : `${who}: ${reason}`;
};

/** An act with its effect. */
export type AuditDraft = Act & { before: AuditedState; after: AuditedState };

/** One entry of the audit log. `_id` counts from 1 without a gap, and `hash` covers all fields and the entry before. */
export type AuditEntry = {
  _id: number;
  act: string;
  at: Date;
  actor: Actor;
  action: string;
  target: string;
  tenant_id: string | null;
  before: AuditedState;
  after: AuditedState;
  reason: string | null;
  request_id: string | null;
  approval: string | null;
  previous_hash: string;
  hash: string;
};

/** The end of the chain: the number of the last entry and its hash. */
export type ChainEnd = { sequence: number; hash: string };

/** The end of the empty chain. */
export const CHAIN_START: ChainEnd = { sequence: 0, hash: '0'.repeat(64) };

/** The next entry of the chain. */
export function nextEntry(end: ChainEnd, draft: AuditDraft, at: Date): AuditEntry {
  const entry: Omit<AuditEntry, 'hash'> = {
    _id: end.sequence + 1,
    act: draft.id,
    at,
    actor: draft.actor,
    action: draft.action,
    target: draft.target,
    tenant_id: draft.tenantId,
    before: draft.before,
    after: draft.after,
    reason: draft.reason,
    request_id: draft.requestId,
    approval: draft.approval,
    previous_hash: end.hash,
  };
  return { ...entry, hash: hashOf(entry) };
}

/** The hash of an entry: SHA-256 over its fields in the order of their names, and over the hash of the entry before. */
export function hashOf(entry: Omit<AuditEntry, 'hash'>): string {
  const fields = { ...entry, hash: undefined };
  return createHash('sha256').update(canonical(fields)).digest('hex');
}

/**
 * JSON with the names of every object in order, so that equal values have equal texts. A lone surrogate counts as U+FFFD, as
 * which MongoDB stores it.
 */
export function canonical(value: unknown): string {
  if (value instanceof Date) return JSON.stringify(value.toISOString());
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const fields = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(',')}}`;
}

/** A place where the chain is broken. */
export type ChainProblem = { sequence: number; problem: string };

/**
 * Follows the chain entry by entry, from its start or after a known entry. `check` takes the entries in the order of their numbers,
 * and `finish` compares the last one with the recorded end.
 */
export function followChain(from: ChainEnd = CHAIN_START) {
  let end = from;
  const problems: ChainProblem[] = [];
  const report = (sequence: number, problem: string) => void problems.push({ sequence, problem });
  return {
    check(entry: AuditEntry): void {
      const { _id: sequence, hash } = entry;
      if (sequence !== end.sequence + 1) report(end.sequence + 1, 'entry is missing');
      else if (entry.previous_hash !== end.hash)
        report(sequence, 'entry does not follow the one before');
      if (hashOf(entry) !== hash) report(sequence, 'entry was changed');
      end = { sequence, hash };
    },
    finish(recorded: ChainEnd): { end: ChainEnd; problems: ChainProblem[] } {
      if (recorded.sequence > end.sequence) report(recorded.sequence, 'entry is missing');
      else if (recorded.sequence < end.sequence || recorded.hash !== end.hash) {
        report(end.sequence, 'last entry is not the recorded end of the chain');
      }
      return { end, problems };
    },
  };
}
