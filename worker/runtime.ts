import { makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Log } from '../src/log.js';

/** Says that a worker without workflows does not ask for workflows: our provider queues are such workers. */
const EXPECTED = 'No workflows registered';

/** One log for the process: the SDK's lines go through ours. Signals are handled by the process, not by the SDK. */
export function installRuntime(log: Log): void {
  const write = (level: 'debug' | 'warn' | 'error') => (message: string, meta?: object) => {
    if (!message.startsWith(EXPECTED)) log[level](meta ?? {}, message);
  };
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: (level, message, meta) => write(level === 'ERROR' ? 'error' : 'warn')(message, meta),
      trace: write('debug'),
      debug: write('debug'),
      info: write('debug'),
      warn: write('warn'),
      error: write('error'),
    },
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
    },
  });
}
