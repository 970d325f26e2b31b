import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { tiedSockets } from './tied-sockets.js';

/**
 * Starts a proxy to this address; `uri` leads through it. While it is cut, no data passes in either direction and
 * neither side is notified: connections stay open and new ones lead nowhere, as behind a firewall that drops packets.
 * `delayMs` holds back what a client sends for this long, with all that it sends after it on the same connection.
 */
export async function startTcpProxy(address: string, delayMs: (sent: Buffer) => number = () => 0) {
  const { href, hostname: host, port } = new URL(address);
  const sockets = tiedSockets();
  let isCut = false;

  const server = createServer((near) => {
    const far = connect({ host, port: Number(port) });
    sockets.tie(near, far);
    if (!isCut) near.pipe(delayed(delayMs)).pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    uri: href.replace(`:${port}`, `:${(server.address() as AddressInfo).port}`),
    cut(): void {
      isCut = true;
      for (const socket of sockets.open) socket.unpipe().pause();
    },
    /** Lets new connections pass again. Old ones are closed, as if the firewall had forgotten them. */
    heal(): void {
      isCut = false;
      sockets.destroy();
    },
    close(): void {
      server.close();
      sockets.destroy();
    },
  };
}

const delayed = (delayMs: (sent: Buffer) => number) =>
  new Transform({
    async transform(sent: Buffer, _, done) {
      const ms = delayMs(sent);
      if (ms > 0) await sleep(ms);
      done(null, sent);
    },
  });
