import { capabilities } from '../../composition/capabilities.js';
import { createPace, emptyReport, type Difference } from '../../core/reconciliation/comparison.js';
import { ApiError } from '../../shared/errors.js';
import type { OperatorDeps } from './deps.js';

/** Calls to the provider per second for one record. */
const PER_SECOND = 10;

/**
 * Compares a record of a capability with its provider, and applies the answer by the rules of the capability. Returns the difference
 * that was found; null if both agree. Throws an `ApiError` without a record that a provider can be asked about, and without an
 * answer.
 */
export async function askProvider(
  deps: OperatorDeps,
  { capability, tenantId, id }: { capability: string | null; tenantId: string | null; id: string },
): Promise<Difference | null> {
  const reconciled = capabilities.find(({ name }) => name === capability)?.reconciled?.(deps);
  const run = {
    apply: true,
    takeTurn: createPace(PER_SECOND),
    report: emptyReport(),
    breaks: deps.breaks,
    log: deps.log,
  };
  const found =
    reconciled && tenantId !== null && (await reconciled.reconcileOne(run, tenantId, id));
  if (!found) {
    const message = `There is no record of ${id} that the provider can be asked about.`;
    throw new ApiError('invalid_state', { message });
  }
  if (run.report.unanswered > 0) {
    throw new ApiError('invalid_state', { message: 'The provider did not answer: try again.' });
  }
  return run.report.differences[0] ?? null;
}
