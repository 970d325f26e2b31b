// Ends what a test file left running when it was itself ended too suddenly to do so: process ids come on
// standard input, `+` when one starts and `-` when it is gone, and the input closes with whoever writes it.
// Their folder, the argument, goes with them.
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
    // It is gone already.
  }
}
rmSync(process.argv[2], { recursive: true, force: true, maxRetries: 5 });
