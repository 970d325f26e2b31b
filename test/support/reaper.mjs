// Kills the processes that a test file left behind when it ended abruptly. Process ids arrive on standard input, `+`
// for a start and `-` for an exit. The input closes with the test file. The folder in the argument is removed too.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const pids = new Set();
for await (const line of createInterface({ input: process.stdin })) {
  const pid = Number(line.slice(1));
  if (line.startsWith('+')) pids.add(pid);
  else pids.delete(pid);
}
for (const pid of pids) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}
rmSync(process.argv[2], { recursive: true, force: true, maxRetries: 5 });
