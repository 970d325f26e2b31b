import { basename } from 'node:path';
import { readFrom, sizeOf } from './processes.js';

const EVERY_MS = 250;
/** Limit of lines per log and window: an unreachable database causes thousands. */
const LINES_PER_WINDOW = 8;
const WINDOW_MS = 10_000;

/**
 * Prints the warnings and errors that a service writes to its log file from now on. Reading the file keeps the
 * service independent of this process. Returns a function that stops it.
 */
export function logWarnings(
  name: string,
  logFile: string,
  show: (line: string) => void,
): () => void {
  let offset = sizeOf(logFile);
  let rest = '';
  let [shown, hidden, windowEnds] = [0, 0, 0];

  function showLimited(line: string): void {
    if (Date.now() > windowEnds) {
      if (hidden > 0) show(`${name}: ${hidden} more in ${basename(logFile)}`);
      [shown, hidden, windowEnds] = [0, 0, Date.now() + WINDOW_MS];
    }
    if (shown < LINES_PER_WINDOW) show(`${name}: ${line}`);
    else hidden += 1;
    shown += 1;
  }

  function read(): void {
    const size = sizeOf(logFile);
    // A smaller size means that the file was rotated.
    const text = rest + readFrom(logFile, size < offset ? 0 : offset);
    offset = size;
    const lines = text.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const warning = warningIn(line);
      if (warning !== null) showLimited(warning);
    }
  }

  const timer = setInterval(read, EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    read();
  };
}

const WARN = 40;

/** Returns the warning in a log line, or null. Lines are pino's JSON, or plain text from before the logger started. */
export function warningIn(line: string): string | null {
  if (!line.startsWith('{')) {
    return /\b(error|warn(ing)?|fatal)\b/i.test(line) ? line.trim().slice(0, 300) : null;
  }
  try {
    const entry = JSON.parse(line) as {
      level?: number | string;
      msg?: string;
      err?: { message?: string };
    };
    const level = entry.level ?? 0;
    const matters = typeof level === 'number' ? level >= WARN : /^(warn|error|fatal)/i.test(level);
    if (!matters) return null;
    const parts = [entry.msg, entry.err?.message].filter((part) => part !== undefined);
    return [...new Set(parts)].join(': ').slice(0, 300);
  } catch {
    return null;
  }
}
