import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  connect,
  constants,
  createSecureServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

/** Paths of the server's certificate, its key and the authorities of clients, and the API keys that it takes. */
export type GateCredentials = {
  certificate: string;
  key: string;
  authorities: string;
  apiKeys: readonly string[];
};

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM } = constants;
/** The status UNAUTHENTICATED of gRPC. */
const UNAUTHENTICATED = '16';

/**
 * Starts a server on `localhost` in front of a Temporal without credentials: it takes mutual TLS alone, and calls with one of its
 * API keys alone, as a Temporal with an authorizer does.
 */
export async function startTemporalGate(target: string, first: GateCredentials) {
  let far = connectTo(target);
  /** A Temporal server ends each of its connections after some minutes: a call after that needs another one. */
  const open = () => (far.closed || far.destroyed ? (far = connectTo(target)) : far);
  const sessions = new Set<ServerHttp2Session>();
  let apiKeys = first.apiKeys;
  let refused = 0;
  const server = createSecureServer({
    ...contextOf(first),
    requestCert: true,
    rejectUnauthorized: true,
  });
  server.on('tlsClientError', () => (refused += 1));
  server.on('session', (session) => {
    sessions.add(session.on('error', () => undefined));
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (near, headers) => {
    near.on('error', () => undefined);
    if (apiKeys.some((key) => headers.authorization === `Bearer ${key}`)) {
      return pass(near, open().request({ ...headers, ':scheme': 'http', ':authority': target }));
    }
    refused += 1;
    const refusal = { 'content-type': 'application/grpc', 'grpc-status': UNAUTHENTICATED };
    near.respond({ ':status': 200, ...refusal }, { endStream: true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    /** Connections and calls without the right credentials. */
    refused: () => refused,
    /** Takes these from now on. Every client has to connect again; its calls in progress end as they would have. */
    use(credentials: GateCredentials): void {
      server.setSecureContext(contextOf(credentials));
      apiKeys = credentials.apiKeys;
      for (const session of sessions) session.close();
    },
    close(): void {
      for (const session of sessions) session.destroy();
      far.destroy();
      server.close();
    },
  };
}

function connectTo(target: string): ClientHttp2Session {
  return connect(`http://${target}`).on('error', () => undefined);
}

const contextOf = ({ certificate, key, authorities }: GateCredentials) => ({
  cert: readFileSync(certificate),
  key: readFileSync(key),
  ca: readFileSync(authorities),
});

/** Joins the two streams of a call, with the trailers in which gRPC has its status. */
function pass(near: ServerHttp2Stream, far: ClientHttp2Stream) {
  let trailers: IncomingHttpHeaders = {};
  far.on('error', () => near.close(NGHTTP2_CANCEL));
  near.on('close', () => far.close(NGHTTP2_CANCEL));
  far.on('trailers', (received) => (trailers = received));
  far.on('response', (headers, flags) => {
    if (near.destroyed) return;
    if (flags & NGHTTP2_FLAG_END_STREAM) return near.respond(headers, { endStream: true });
    near.on('wantTrailers', () => !near.destroyed && near.sendTrailers(trailers));
    near.respond(headers, { waitForTrailers: true });
    far.pipe(near);
  });
  near.pipe(far);
}
