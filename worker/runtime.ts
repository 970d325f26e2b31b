import { makeTelemetryFilterString, Runtime, type LogLevel } from '@temporalio/worker';
import type { Config } from '../src/shared/config.js';
import type { Log } from '../src/shared/log.js';

/** The SDK's message that a worker has no workflows, which is intended for the workers of provider queues. */
const EXPECTED = 'No workflows registered';

const LEVELS = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
} as const satisfies Record<LogLevel, string>;

/** The SDK's fields of a line, with the workflow's id under the name that all our lines have for it. */
const named = ({ workflowId, ...fields }: { workflowId?: unknown }) => ({
  ...fields,
  ...(workflowId !== undefined && { workflow_id: workflowId }),
});

/**
 * Configures the SDK's runtime: its log lines go through our log, signals are left to the process, and its metrics are
 * served on `temporalPort` if that is set, because its native code has an exporter of its own.
 */
export function installRuntime(log: Log, { host, temporalPort }: Config['metrics']): void {
  const write = (level: 'debug' | 'warn' | 'error') => (message: string, meta?: object) => {
    if (!message.startsWith(EXPECTED)) log[level](named(meta ?? {}), message);
  };
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: (level, message, meta) => write(LEVELS[level])(message, meta),
      trace: write('debug'),
      debug: write('debug'),
      info: write('debug'),
      warn: write('warn'),
      error: write('error'),
    },
    telemetryOptions: {
      ...(temporalPort !== undefined && {
        metrics: { prometheus: { bindAddress: `${host}:${temporalPort}` } },
      }),
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
    },
  });
}
