import {
  isGrpcServiceError,
  ServiceError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.js';

/** Returns a message that an operator can act on, because the drivers' messages name internals only. */
export function explain(error: unknown): string {
  if (isDatabaseUnavailable(error)) return 'MongoDB does not answer. Nothing is lost: try again.';
  const isTemporal =
    error instanceof ServiceError ||
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    isGrpcServiceError(error);
  if (isTemporal) {
    return 'Temporal or the worker does not answer. The command may still be carried out: show the record before you repeat it.';
  }
  return error instanceof Error ? error.message : String(error);
}
