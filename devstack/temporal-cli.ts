/** `npm run -s temporal -- …`: Temporal's command line, with the address of this copy's server. */
import { spawnSync } from 'node:child_process';
import { findService } from '../src/ops/cli/connect.js';
import { findEngine } from './find.js';

try {
  const { address, namespace } = findService().temporal;
  const { binary } = await findEngine('temporal', process.env, console.error);
  const env = { ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  const ended = spawnSync(binary, process.argv.slice(2), { stdio: 'inherit', env });
  if (ended.error) throw ended.error;
  process.exitCode = ended.status ?? 1;
} catch (error) {
  console.error(`temporal: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
