import { capabilities } from './capabilities.js';
import type { SupervisedRecords } from '../core/supervision/supervision.js';
import type { Deps } from './deps.js';

/** The records that the dispatcher restarts, by collection, in the order of the capabilities. */
export const supervisedRecords = (deps: Deps): Readonly<Record<string, SupervisedRecords>> =>
  Object.assign(
    {},
    ...capabilities.map((capability) => capability.supervised?.(deps) ?? {}),
  ) as Record<string, SupervisedRecords>;
