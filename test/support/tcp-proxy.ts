import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tiedSockets } from './tied-sockets.js';

/**
 * A network of one line to what is at this address; `uri` leads there by that line. While it is cut nothing comes
 * through in either direction and nobody is told so: connections stay open, new ones are taken and lead nowhere, as
 * behind a firewall that drops.
 */
export async function startTcpProxy(address: string) {
  const { href, hostname: host, port } = new URL(address);
  const sockets = tiedSockets();
  let isCut = false;

  const server = createServer((near) => {
    const far = connect({ host, port: Number(port) });
    sockets.tie(near, far);
    if (!isCut) near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    uri: href.replace(`:${port}`, `:${(server.address() as AddressInfo).port}`),
    cut(): void {
      isCut = true;
      for (const socket of sockets.open) socket.unpipe().pause();
    },
    /** New connections work again. The old ones are dead, as they are where a firewall has forgotten them. */
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
