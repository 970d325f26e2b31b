import { makeTelemetryFilterString, Runtime, type LogLevel } from '@temporalio/worker';
import type { Config } from '../src/shared/config.js';
import type { Log } from '../src/shared/log.js';

/** Says that a worker without workflows does not ask for workflows: our provider queues are such workers. */
const EXPECTED = 'No workflows registered';

const LEVELS = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
} as const satisfies Record<LogLevel, string>;

/**
 * One log for the process: the SDK's lines go through ours. Signals are handled by the process, not by the SDK. With a
 * port, the SDK serves its own metrics there (it has an exporter of its own, in native code).
 */
export function installRuntime(log: Log, { host, temporalPort }: Config['metrics']): void {
  const write = (level: 'debug' | 'warn' | 'error') => (message: string, meta?: object) => {
    if (!message.startsWith(EXPECTED)) log[level](meta ?? {}, message);
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
