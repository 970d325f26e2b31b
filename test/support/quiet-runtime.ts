import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });

/** Makes Temporal's runtime of this process log errors alone. A process has one, so an earlier test file may have made it. */
export function installQuietRuntime(): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { filter } },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
