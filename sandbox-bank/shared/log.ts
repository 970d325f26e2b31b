import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { dirname } from 'node:path';

/**
 * An append-only file of lines. A line is written whole or not at all, and is on disk once `flushed()` has resolved.
 * Waiting lines share one flush, so the disk's flush time bounds latency, not throughput.
 */
export type Log = {
  /** Queues a line. Throws if the log is closed or broken; then the line was not queued. */
  append(line: string): void;
  /** Resolves when every line appended so far is on disk; rejects for good once the disk has failed. */
  flushed(): Promise<void>;
  close(): Promise<void>;
};

const NEWLINE = 0x0a;

/**
 * Opens the log and replays every whole line in sequence. Cuts off a torn last line: it was never reported to anyone.
 */
export async function openLog(path: string, replay: (line: string) => void): Promise<Log> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a');
  try {
    const wholeBytes = await replayLines(path, replay);
    if (wholeBytes < (await file.stat()).size) await file.truncate(wholeBytes);
    await file.sync();
    await syncFolder(dirname(path));
  } catch (error) {
    await file.close();
    throw error;
  }
  return createLog(file);
}

function createLog(file: FileHandle): Log {
  let waiting: string[] = [];
  let writing: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  let stopped: Error | null = null;

  async function write(): Promise<void> {
    if (stopped) throw stopped;
    const batch = waiting.join('');
    waiting = [];
    writing = next;
    next = null;
    try {
      await file.appendFile(batch);
      await file.datasync();
    } catch (error) {
      // The lines may or may not be on disk. A bank that cannot know its own state must stop answering.
      stopped = new Error('the journal could not be written', { cause: error });
      throw stopped;
    }
    writing = null;
  }

  return {
    append(line) {
      if (stopped) throw stopped;
      waiting.push(line, '\n');
      if (next) return;
      next = (writing ?? Promise.resolve()).then(write);
      next.catch(() => {}); // Reported by flushed(), also when nobody waits for this batch.
    },
    flushed() {
      if (stopped) return Promise.reject(stopped);
      return next ?? writing ?? Promise.resolve();
    },
    async close() {
      try {
        await (next ?? writing);
      } finally {
        stopped ??= new Error('the journal is closed');
        await file.close();
      }
    },
  };
}

/** Returns how many bytes are whole lines. A bad line in the middle is damage and never skipped. */
async function replayLines(path: string, replay: (line: string) => void): Promise<number> {
  let rest: Buffer = Buffer.alloc(0);
  let wholeBytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    let bytes: Buffer = Buffer.concat([rest, chunk as Buffer]);
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE)) {
      try {
        replay(bytes.toString('utf8', 0, end));
      } catch (cause) {
        throw new Error(`the journal is damaged at byte ${wholeBytes}`, { cause });
      }
      wholeBytes += end + 1;
      bytes = bytes.subarray(end + 1);
    }
    rest = bytes;
  }
  return wholeBytes;
}

/** Without this flush, a power cut can remove a new file although its content was flushed. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
