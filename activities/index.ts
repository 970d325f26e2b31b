import {
  createTransferBatchActivities,
  type TransferBatchActivityDeps,
} from './transfer-batches.js';
import { createTransferActivities, type TransferActivityDeps } from './transfers.js';

export type ActivityDeps = TransferActivityDeps & TransferBatchActivityDeps;

/** All activities of the worker. Their names are in histories: they never change (test/contract/names.test.ts). */
export function createActivities(deps: ActivityDeps) {
  return { ...createTransferActivities(deps), ...createTransferBatchActivities(deps) };
}

export type Activities = ReturnType<typeof createActivities>;
