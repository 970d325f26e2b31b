import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';

const folder = join(import.meta.dirname, 'tls');
/** The certificates of the tests: of an authority, and one that it has signed for `localhost` and for clients. */
export const CERTIFICATES = {
  ca: join(folder, 'ca.pem'),
  certificate: join(folder, 'certificate.pem'),
  key: join(folder, 'key.pem'),
};

/** Starts a server on `localhost` that takes mutual TLS alone, in front of a server without TLS. */
export async function startTlsProxy(
  target: { hostname: string; port: string },
  options: { ALPNProtocols?: string[] } = {},
) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer(
    {
      cert: readFileSync(CERTIFICATES.certificate),
      key: readFileSync(CERTIFICATES.key),
      ca: readFileSync(CERTIFICATES.ca),
      requestCert: true,
      rejectUnauthorized: true,
      ...options,
    },
    (secure) => {
      connections += 1;
      const plain = connect(Number(target.port), target.hostname);
      for (const socket of [secure, plain]) {
        sockets.add(socket);
        socket.on('error', () => undefined);
      }
      secure.pipe(plain);
      plain.pipe(secure);
    },
  );
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    close(): void {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
