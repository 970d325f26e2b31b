import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A network of one line to what is at this address; `uri` leads there by that line. While it is cut nothing comes
 * through in either direction and nobody is told so: connections stay open, new ones are taken and lead nowhere, as
 * behind a firewall that drops.
 */
export async function startTcpProxy(address: string) {
  const { href, hostname: host, port } = new URL(address);
  const sockets = new Set<Socket>();
  let isCut = false;

  const server = createServer((near) => {
    const far = connect({ host, port: Number(port) });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      if (isCut) one.unpipe(other).pause();
    }
    near.once('close', () => far.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    uri: href.replace(`:${port}`, `:${(server.address() as AddressInfo).port}`),
    cut(): void {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    /** New connections work again. The old ones are dead, as they are where a firewall has forgotten them. */
    heal(): void {
      isCut = false;
      for (const socket of sockets) socket.destroy();
    },
    close(): void {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
