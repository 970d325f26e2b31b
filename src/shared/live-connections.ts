import { isIP } from 'node:net';

/** A setting that live does not start with. */
type Problem = { setting: string; message: string };

/** The connection to Temporal, as far as it is protected. */
type TemporalConnection = {
  address: string;
  tls?: unknown;
  apiKey?: unknown;
  metadata?: Readonly<Record<string, unknown>> | undefined;
};

/**
 * The settings of connections over the network that are not both encrypted and authenticated. Who reaches Temporal or MongoDB
 * moves money. A connection within this machine needs neither.
 */
export function unprotectedConnections(
  mongodbUri: string,
  temporal: TemporalConnection,
): Problem[] {
  return [
    ...mongodbProblems(mongodbUri).map((message) => ({ setting: 'MONGODB_URI', message })),
    ...temporalProblems(temporal).map((message) => ({ setting: 'TEMPORAL_ADDRESS', message })),
  ];
}

const IN_LIVE = 'over the network when BURSAR_ENV is live';

function mongodbProblems(uri: string): string[] {
  const parts = /^mongodb(\+srv)?:\/\/(?:([^@/]*)@)?([^/?]*)(?:\/[^?]*)?(?:\?(.*))?$/.exec(uri);
  // The driver refuses it, with the reason.
  if (!parts) return [];
  const [, srv, user, hosts = '', query] = parts;
  if (srv === undefined && hosts.split(',').every(isLocal)) return [];
  const options = new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
  );
  const tls = options.get('tls') ?? options.get('ssl') ?? String(srv !== undefined);
  const unchecked = ['tlsinsecure', 'tlsallowinvalidcertificates', 'tlsallowinvalidhostnames'];
  const isChecked = !unchecked.some((name) => options.get(name) === 'true');
  const hasCredentials = Boolean(user) || options.has('authmechanism');
  return [
    ...(tls === 'true' && isChecked
      ? []
      : [`needs tls=true, with certificates checked, ${IN_LIVE}`]),
    ...(hasCredentials ? [] : [`needs a user or an authMechanism ${IN_LIVE}`]),
  ];
}

function temporalProblems({ address, tls, apiKey, metadata = {} }: TemporalConnection): string[] {
  if (isLocal(address)) return [];
  const hasTls = tls !== undefined && tls !== null && tls !== false;
  const { clientCertPair } = (hasTls ? tls : {}) as { clientCertPair?: unknown };
  const hasToken = Object.keys(metadata).some((name) => name.toLowerCase() === 'authorization');
  const hasCredentials = apiKey !== undefined || hasToken || clientCertPair !== undefined;
  return [
    ...(hasTls ? [] : [`needs TEMPORAL_TLS=true ${IN_LIVE}`]),
    ...(hasCredentials
      ? []
      : [`needs a client certificate (TEMPORAL_TLS_CLIENT_…) or TEMPORAL_API_KEY ${IN_LIVE}`]),
  ];
}

/** True for an address of this machine: loopback, or a socket in its file system. */
function isLocal(address: string): boolean {
  if (address.startsWith('%2F')) return true;
  const host = address.replace(/:\d+$/, '').replaceAll(/^\[|\]$/g, '');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
