import { loadClientConnectConfig } from '@temporalio/envconfig';

/** The environment variables of Temporal that are not Temporal's own. */
type Variables = {
  BURSAR_ENV: string;
  BURSAR_TASK_QUEUE: string;
  BURSAR_WORKER_DEPLOYMENT?: string | undefined;
  BURSAR_WORKER_BUILD_ID?: string | undefined;
  BURSAR_TEMPORAL_UI_URL?: string | undefined;
  BURSAR_TEMPORAL_REGISTER: boolean;
};

/** The worker's version; null without versions. */
const deploymentOf = (e: Variables) =>
  e.BURSAR_WORKER_DEPLOYMENT !== undefined && e.BURSAR_WORKER_BUILD_ID !== undefined
    ? { name: e.BURSAR_WORKER_DEPLOYMENT, buildId: e.BURSAR_WORKER_BUILD_ID }
    : null;

/** The address of Temporal if neither the environment nor a profile names one. */
const LOCAL_TEMPORAL = '127.0.0.1:7233';

/**
 * The connection to Temporal by Temporal's own environment configuration: `TEMPORAL_ADDRESS`, `TEMPORAL_API_KEY`,
 * `TEMPORAL_TLS`, `TEMPORAL_TLS_*`, `TEMPORAL_GRPC_META_*`, and the profile `TEMPORAL_PROFILE` of the file
 * `TEMPORAL_CONFIG_FILE`. A file that the environment does not name is not read.
 */
export function temporalOf(e: Variables, env: NodeJS.ProcessEnv) {
  const given = Object.entries(env).filter(
    (each): each is [string, string] => each[0].startsWith('TEMPORAL_') && Boolean(each[1]),
  );
  const { connectionOptions, namespace } = loadClientConnectConfig({
    overrideEnvVars: Object.fromEntries(given),
    disableFile: !env['TEMPORAL_CONFIG_FILE'],
  });
  const { address = LOCAL_TEMPORAL, tls, apiKey, metadata } = connectionOptions;
  return {
    address,
    namespace: namespace ?? `bursar-${e.BURSAR_ENV}`,
    taskQueue: e.BURSAR_TASK_QUEUE,
    deployment: deploymentOf(e),
    /** The address of the Temporal UI without a slash at its end; null if it is not known. */
    uiUrl: e.BURSAR_TEMPORAL_UI_URL?.replace(/\/+$/, '') ?? null,
    /** True if the worker registers the namespace and its search attributes. */
    registers: e.BURSAR_TEMPORAL_REGISTER,
    /** Options of every connection to Temporal. They hold secrets. */
    connection: {
      address,
      ...(tls !== undefined && { tls }),
      ...(apiKey !== undefined && { apiKey }),
      ...(metadata !== undefined && { metadata }),
    },
  };
}
