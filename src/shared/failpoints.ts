import { readFileSync, writeSync } from 'node:fs';

/**
 * Named points at which a test has this process die: what if it ends right here? One stands at every boundary between
 * our store, Temporal, a provider and a tenant. Not set, a point costs one comparison.
 */
export const FAILPOINTS = [
  /** An idempotency key is claimed, and nothing else is written of what it claims. */
  'claim.written',
  /** All of a transaction is written, and not yet committed. */
  'commit.before',
  /** Committed, and nobody has been told. */
  'commit.after',
  /** All of a batch have their answers, and the next batch waits. */
  'batch.answered',
  /** A record is there and its workflow is not. */
  'start.before',
  'start.after',
  /** The permission to send is used up, and nothing has left. */
  'submit.permitted',
  /** The provider has answered, and nobody else knows it. */
  'submit.answered',
  /** A provider's word about a charge, which its caller books at once. */
  'charge.answered',
  /** The same of an issuer's word about a card that it has issued. */
  'issuance.answered',
  'verify.before',
  'verify.answered',
  'outcome.before',
  'outcome.after',
  /** A provider's callback is stored and answered, and not applied. */
  'provider_event.stored',
  'provider_event.applied',
  /** A payment with a card is decided and committed, and the issuer has no answer. */
  'decision.made',
  /** What was funded too late is about to be asked back. */
  'fund_reversal.before',
  'fund_reversal.answered',
  /** A Schedule has fired, or the sweep in its place. */
  'renewal.before',
  /** A period's charge is there, and its workflow is not. */
  'renewal.charged',
  /** A recurring charge and its Schedule do not agree yet. */
  'schedule.before',
  'schedule.after',
  /** A tenant's webhook is written, and has not left. */
  'webhook.before',
  /** The receiver has it, and we have not written that down. */
  'webhook.after',
  /** The dispatcher has found what is due. */
  'dispatch.found',
  'dispatch.started',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

type Armed = { name: Failpoint; hits: number };

/** One after the other; the process dies at the last. */
let armed: Armed[] = [];

/**
 * Has the process die at the n-th passing of a point, as `name` or `name:n` says; null: at none. `one>other`: at the
 * other, counted once the one has been passed. `@file`: at what is in this file when SIGUSR2 comes.
 */
export function armFailpoint(spec: string | null): void {
  if (spec?.startsWith('@')) return armOnSignal(spec.slice(1));
  armed = spec === null ? [] : spec.split('>').map(readPoint);
}

function readPoint(spec: string): Armed {
  const [name, nth = '1'] = spec.split(':');
  if (!isFailpoint(name) || !/^[1-9][0-9]*$/.test(nth)) {
    throw new Error(`there is no failpoint ${spec}; there are: ${FAILPOINTS.join(', ')}`);
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

/** Ends this process at once, as a crash would, if the point is the one that it is to die at. */
export function failpoint(name: Failpoint): void {
  if (armed.length > 0) pass(name);
}

function pass(name: Failpoint): void {
  const [next] = armed;
  if (next?.name !== name || --next.hits > 0) return;
  armed.shift();
  if (armed.length > 0) return;
  // Synchronously: nothing is written after this.
  writeSync(2, `failpoint ${name}\n`);
  process.kill(process.pid, 'SIGKILL');
  // The signal comes when the system gets to it, and no line of ours may run until then.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
}
