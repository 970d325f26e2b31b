import { pino } from 'pino';
import { createLog } from './log.js';

/**
 * Has what ends this process written to its log, masked as any line is. Node itself would print the error whole, with
 * the documents that the database puts into its own.
 */
export function logFatalErrors(name: string): void {
  process.on('uncaughtException', (error) => {
    const destination = pino.destination({ fd: 1, sync: true });
    createLog({ level: 'fatal', name, destination }).fatal({ err: error }, 'ended by a failure');
    process.exit(1);
  });
}
