import { readFileSync, writeSync } from 'node:fs';

/**
 * Named points at which a test kills this process. One is at every boundary between the database, Temporal, a provider
 * and a tenant. A point that is not armed costs one comparison.
 */
export const FAILPOINTS = [
  /** The idempotency key is claimed; the record that it claims is not written yet. */
  'claim.written',
  /** All writes of the transaction are made, and it is not committed yet. */
  'commit.before',
  /** Committed, and no caller has its result yet. */
  'commit.after',
  /** All callers of a batch have their results, and the next batch waits. */
  'batch.answered',
  /** Another process has forwarded mutations, and none is committed. */
  'forward.received',
  /** Forwarded mutations are committed, and the process that forwarded them has no result. */
  'forward.committed',
  /** The record is committed, and its workflow is not started. */
  'start.before',
  'start.after',
  /** The provider has prepared a submission, and its handle is not kept. */
  'prepare.answered',
  /** The submit permit is used up, and no request has been sent. */
  'submit.permitted',
  /** The provider has answered, and the answer is not recorded. */
  'submit.answered',
  /** The provider has answered a charge that was submitted in the API process; the answer is not applied yet. */
  'charge.answered',
  /** The issuer has answered a card issuance that was submitted in the API process; the answer is not applied yet. */
  'issuance.answered',
  /** The provider has answered with a virtual account, and its number is not recorded. */
  'account.answered',
  /** The provider has answered with the receipt of a bill payment; the answer is not applied yet. */
  'bill.answered',
  /** The provider has confirmed a deposit, and nothing is booked. */
  'deposit.answered',
  'verify.before',
  'verify.answered',
  /** The provider has answered a cancellation, and the answer is not applied. */
  'cancel.answered',
  /** The provider has opened the page of a token, or told what was saved on it, and nothing of it is recorded. */
  'setup.answered',
  /** The provider has the account of the customer for a refund, and the refund keeps it still. */
  'refund.resumed',
  /** The provider was asked about an account for the last time before its closing, which is not requested yet. */
  'closing.requeried',
  /** The provider has revoked an authorization, and its token does not know it. */
  'revocation.answered',
  'outcome.before',
  'outcome.after',
  /** A provider event is stored and answered, and not applied. */
  'provider_event.stored',
  'provider_event.applied',
  /** The decision on a card authorization is committed, and the issuer has no answer. */
  'decision.made',
  /** A card funding that was confirmed too late is about to be reversed at the issuer. */
  'fund_reversal.before',
  'fund_reversal.answered',
  /** A Schedule has fired, or recovery runs in its place. */
  'renewal.before',
  /** The charge of a period exists, and its workflow does not. */
  'renewal.charged',
  /** A recurring charge and its Schedule do not match yet. */
  'schedule.before',
  'schedule.after',
  /** A webhook delivery is committed, and nothing has been sent. */
  'webhook.before',
  /** The receiver has answered, and the attempt is not recorded. */
  'webhook.after',
  /** The dispatcher has claimed records whose next check has passed, and has started none. */
  'dispatch.claimed',
  'dispatch.started',
] as const;

/** The name of a failpoint. */
export type Failpoint = (typeof FAILPOINTS)[number];

type Armed = { name: Failpoint; hits: number };

/** Points in the order in which they have to be passed. The process dies at the last one. */
let armed: Armed[] = [];

/**
 * Arms the process to die at the n-th passing of a point, given as `name` or `name:n`; null disarms it. `one>other`
 * counts the second point only after the first was passed. `@file` reads the spec from the file on SIGUSR2. Throws if a
 * name is unknown.
 */
export function armFailpoint(spec: string | null): void {
  if (spec?.startsWith('@')) return armOnSignal(spec.slice(1));
  armed = spec === null ? [] : spec.split('>').map(readPoint);
}

function readPoint(spec: string): Armed {
  const [name, nth = '1'] = spec.split(':');
  if (!isFailpoint(name) || !/^[1-9][0-9]*$/.test(nth)) {
    throw new Error(`unknown failpoint ${spec}; the known ones are: ${FAILPOINTS.join(', ')}`);
  }
  return { name, hits: Number(nth) };
}

function armOnSignal(file: string): void {
  process.on('SIGUSR2', () => {
    armFailpoint(readFileSync(file, 'utf8'));
    writeSync(2, 'failpoint armed\n');
  });
}

const isFailpoint = (name: string | undefined): name is Failpoint =>
  (FAILPOINTS as readonly (string | undefined)[]).includes(name);

/** Kills this process with SIGKILL, as a crash would, if it is armed to die at this point; otherwise does nothing. */
export function failpoint(name: Failpoint): void {
  if (armed.length > 0) pass(name);
}

function pass(name: Failpoint): void {
  const [next] = armed;
  if (next?.name !== name || --next.hits > 0) return;
  armed.shift();
  if (armed.length > 0) return;
  // Written synchronously: no later write would take place.
  writeSync(2, `failpoint ${name}\n`);
  process.kill(process.pid, 'SIGKILL');
  // The signal is delivered asynchronously, and no further line of this process may run until then.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
}
