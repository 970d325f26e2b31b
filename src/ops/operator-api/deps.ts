import type { Database } from '../../platform/database/client.js';
import type { Deps } from '../../composition/deps.js';

/** The parts of the operator API. `reports`: a connection without an operation limit, because operators wait for long reads. */
export type OperatorDeps = Deps & { reports: Database };
