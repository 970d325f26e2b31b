import { createHash } from 'node:crypto';
import { z } from 'zod';

const KINDS = ['error_500', 'hang', 'drop_before', 'drop_after', 'slow', 'throttle'] as const;
const CALLS = [
  'submit',
  'lookup',
  'enquiry',
  'callback',
  'issue',
  'fund',
  'reverse',
  'set_state',
  'authorization',
  'initialize',
  'charge',
  'refund',
  'revoke',
] as const;

export const faultsBody = z.union([
  z.strictObject({
    seed: z.union([z.int(), z.string().max(100)]),
    rules: z
      .array(
        z.strictObject({
          call: z.enum([...CALLS, 'any']),
          kind: z.enum(KINDS),
          probability: z.number().min(0).max(1),
          /** Length of `slow`. */
          ms: z.int().min(1).max(60_000).default(1_000),
        }),
      )
      .max(50),
  }),
  z.strictObject({}),
]);

export type FaultSetting = z.infer<typeof faultsBody>;
export type FaultyCall = (typeof CALLS)[number];
export type Fault = { kind: (typeof KINDS)[number]; ms: number };

export type Faults = {
  set(setting: FaultSetting): void;
  current(): FaultSetting;
  /** The fault of this call, if any; the first rule that applies wins. */
  next(call: FaultyCall): Fault | null;
};

/**
 * Faults on purpose. Which call of a kind is hit depends on the seed and on how many of that kind came before it, on
 * nothing else: the same setting gives the same sequence again. Setting it starts the count anew.
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

/** A number in [0, 1) that looks random and is always the same for one text. */
function draw(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}
