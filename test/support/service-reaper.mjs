// Ends the shared services of a test run: every process whose id is in a file `*.pid` of a folder in the folder of the
// argument. The input closes with the run. The folder is removed too.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
for await (const _ of process.stdin);

const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.pid'));
for (const file of files) {
  try {
    process.kill(Number(readFileSync(join(folder, file), 'utf8')), 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
