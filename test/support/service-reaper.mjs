// Ends the shared services of a test run: every process that a file `*.pid` names in a folder in the folder of the argument. The input closes with the run. The folder is removed too.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startOf } from '../../scripts/lock.mjs';

const [folder] = process.argv.slice(2);
for await (const _ of process.stdin);

const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.pid'));
for (const file of files) {
  try {
    const { pid, started } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    // A later process may have the pid of one that has ended.
    if (startOf(pid) === started) process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended in this moment, or had not been started.
  }
}
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
