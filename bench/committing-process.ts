/** Accepts transfers in a process of its own, with the commit engine of an API process. */
import { forwardedMutations } from '../src/composition/capabilities.js';
import { acceptTransfer } from '../src/capabilities/transfers/mutations.js';
import { createForwarding } from '../src/core/commit/forwarding.js';
import { serveForwarding } from '../src/core/commit/forwarding-server.js';
import { createGroupCommit, type GroupCommit } from '../src/core/commit/group-commit.js';
import { createCommitProcesses } from '../src/core/commit/processes.js';
import { noOutbox } from '../src/core/webhooks/outbox.js';
import { connectDatabase } from '../src/platform/database/client.js';
import type { Tenant } from '../src/platform/tenants/tenant.js';
import { createLog } from '../src/shared/log.js';
import { serveParent } from './child.js';
import { closedLoop, type Loop } from './support.js';
import { createMutationMaker } from './transfers.js';

/** `quiet` is a tenant with one client in this process, beside the clients of `hot`. */
export type CommitQuestion = {
  forwards: boolean;
  hot: Tenant;
  quiet: Tenant | null;
  clients: number;
  forMs: number;
};
export type CommitAnswer = { hot: Loop; quiet: Loop | null };

const uri = process.env['BENCH_MONGODB_URI'] ?? '';
const name = process.env['BENCH_DATABASE'] ?? '';
const log = createLog({ level: 'warn', name: 'bench' });
const database = await connectDatabase({ uri, database: name }, 'bursar-bench-committing');
const processes = createCommitProcesses(database.db, { release: 'bench', log });
const forwarding = createForwarding(processes, forwardedMutations);
const alone = createGroupCommit(database);
const together = createGroupCommit(database, noOutbox, () => false, forwarding);
await serveForwarding({
  host: '127.0.0.1',
  port: 0,
  groupCommit: together,
  forwarding,
  mutations: forwardedMutations,
  processes,
  log,
});
const makeMutation = createMutationMaker('sandbox-bank');

const acceptWith = (groupCommit: GroupCommit, tenant: Tenant) => async () => {
  const input = await makeMutation(tenant);
  const accepted = await groupCommit.commit(acceptTransfer, input);
  if (accepted.kind !== 'answered' || accepted.resource !== input.transfer._id) {
    throw new Error('not accepted');
  }
};

async function run({
  forwards,
  hot,
  quiet,
  clients,
  forMs,
}: CommitQuestion): Promise<CommitAnswer> {
  const groupCommit = forwards ? together : alone;
  const [ofHot, ofQuiet] = await Promise.all([
    closedLoop({ clients, forMs, act: acceptWith(groupCommit, hot) }),
    quiet && closedLoop({ clients: 1, forMs, act: acceptWith(groupCommit, quiet) }),
  ]);
  return { hot: ofHot, quiet: ofQuiet };
}

serveParent((question) => run(question as CommitQuestion));
