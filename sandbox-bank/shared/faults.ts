import { createHash } from 'node:crypto';
import { z } from 'zod';

/** The kinds of faults. */
export const FAULT_KINDS = [
  'error_500',
  'hang',
  'drop_before',
  'drop_after',
  'slow',
  'throttle',
  'conflict',
  'unknown_word',
  'half_open',
  'slow_body',
  'reset',
  'lost_event',
  'duplicate_event',
] as const;
/** The calls that faults can hit, besides `any`. */
export const FAULTY_CALLS = [
  'submit',
  'prepare',
  'lookup',
  'cancel',
  'list',
  'balance',
  'enquiry',
  'callback',
  'issue',
  'fund',
  'reverse',
  'unload',
  'set_state',
  'find_authorization',
  'dispute',
  'withdraw_dispute',
  'authorization',
  'initialize',
  'charge',
  'refund',
  'revoke',
  'assign',
  'close',
  'requery',
  'deposit',
  'list',
  'return',
  'check',
  'cancel',
  'setup',
] as const;

/** The body of the control that sets faults. */
export const faultsBody = z.union([
  z.strictObject({
    seed: z.union([z.int(), z.string().max(100)]),
    rules: z
      .array(
        z.strictObject({
          call: z.enum([...FAULTY_CALLS, 'any']),
          kind: z.enum(FAULT_KINDS),
          probability: z.number().min(0).max(1),
          /** The delay of a `slow` fault. */
          ms: z.int().min(1).max(60_000).default(1_000),
        }),
      )
      .max(50),
  }),
  z.strictObject({}),
]);

/** The current faults. */
type FaultSetting = z.infer<typeof faultsBody>;
/** A call that faults can hit. */
export type FaultyCall = (typeof FAULTY_CALLS)[number];
/** One fault to apply to a call. */
export type Fault = { kind: (typeof FAULT_KINDS)[number]; ms: number };

/** The bank's fault injection. */
export type Faults = {
  set(setting: FaultSetting): void;
  current(): FaultSetting;
  /** Returns the fault of this call, if any; the first matching rule wins. */
  next(call: FaultyCall): Fault | null;
};

/**
 * Creates the fault injection. A fault depends only on the seed and on the number of earlier calls of its kind, so
 * the same setting repeats the same sequence. A new setting restarts the count.
 */
export function createFaults(): Faults {
  let setting: FaultSetting = {};
  let counts = new Map<FaultyCall, number>();
  return {
    set(next) {
      setting = next;
      counts = new Map();
    },
    current: () => setting,
    next(call) {
      if (!('rules' in setting)) return null;
      const count = (counts.get(call) ?? 0) + 1;
      counts.set(call, count);
      for (const [i, rule] of setting.rules.entries()) {
        if (rule.call !== 'any' && rule.call !== call) continue;
        if (draw(`${setting.seed}/${i}/${call}/${count}`) < rule.probability) {
          return { kind: rule.kind, ms: rule.ms };
        }
      }
      return null;
    },
  };
}

/** Returns a pseudo-random number in [0, 1), always the same for one text. */
function draw(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}
