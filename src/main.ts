import { serveApi } from './api.js';
import { createDeps } from './composition/deps.js';
import { loadConfig } from './shared/config.js';
import { logFatalErrors } from './shared/fatal-errors.js';
import { stopOnSignal } from './shared/stop-on-signal.js';

logFatalErrors('api');

/** The API process. On SIGTERM it reports "not ready", answers the requests in progress, and closes its connections. */
const deps = await createDeps(loadConfig(), 'api');
const api = await serveApi(deps);
stopOnSignal(
  async () => {
    await api.close();
    await deps.close();
  },
  (error) => deps.log.error({ err: error }, 'stopping failed'),
);
