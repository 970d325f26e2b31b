import { writeSync } from 'node:fs';
import { pino } from 'pino';
import { createLog } from './log.js';
import { StartRefused } from './start-refused.js';

const STDERR = 2;

/**
 * Logs an uncaught exception, masked like any other log line, and exits with 1. Node would print the whole error, which
 * can contain documents that the database put into it. A refused start is plain text on standard error.
 */
export function logFatalErrors(name: string): void {
  process.on('uncaughtException', (error) => {
    if (error instanceof StartRefused) {
      writeSync(STDERR, `bursar: ${error.message}\n`);
    } else {
      const destination = pino.destination({ fd: 1, sync: true });
      createLog({ level: 'fatal', name, destination }).fatal(
        { err: error },
        'process ended by an uncaught exception',
      );
    }
    process.exit(1);
  });
}
