import { z } from 'zod';

/** The body of the control that fails over to a lagging copy. */
export const failoverBody = z.strictObject({
  references: z.array(z.string().max(100)).max(10_000),
  for_ms: z.int().min(1).max(600_000),
});

/** A copy of the bank that has not received some requests yet. */
export type LaggingCopy = {
  /** From now on and for `for_ms`, look-ups do not find these references. It replaces an earlier fail-over. */
  failOver(setting: z.infer<typeof failoverBody>): void;
  /** True if a look-up must answer that it does not know the reference. */
  lacks(reference: string): boolean;
};

/** Creates the copy. It lacks nothing until a fail-over. */
export function createLaggingCopy(): LaggingCopy {
  let missing = new Set<string>();
  let untilMs = 0;
  return {
    failOver({ references, for_ms }) {
      missing = new Set(references);
      untilMs = Date.now() + for_ms;
    },
    lacks: (reference) => missing.has(reference) && Date.now() < untilMs,
  };
}
