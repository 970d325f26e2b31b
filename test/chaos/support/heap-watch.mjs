// Loaded before the process's own code: every few seconds each thread collects all garbage and writes its live memory to
// a file. Growth of that figure is a leak.
import { appendFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { threadId } from 'node:worker_threads';

const EVERY_MS = 10_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const script = process.argv[1] ?? '';
const name = `${basename(dirname(script))}-${basename(script)}-${process.pid}-${threadId}`;

setInterval(() => {
  collect();
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const line = { at: Date.now(), rss, heap: heapUsed, external: external + arrayBuffers };
  appendFileSync(join(process.env.HEAP_FOLDER, `${name}.jsonl`), `${JSON.stringify(line)}\n`);
}, EVERY_MS).unref();
