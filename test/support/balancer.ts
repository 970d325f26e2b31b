import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What stands before APIs of which any may be away: a connection is taken by the next one that is there. */
export async function startBalancer(ports: readonly number[]) {
  const sockets = new Set<Socket>();
  let turn = 0;

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  }

  async function reach(port: number): Promise<Socket | null> {
    const far = keep(connect({ host: '127.0.0.1', port }));
    return once(far, 'connect').then(
      () => far,
      () => null,
    );
  }

  async function pass(near: Socket): Promise<void> {
    const first = (turn += 1);
    for (const [i] of ports.entries()) {
      const far = await reach(ports[(first + i) % ports.length] as number);
      if (far === null) continue;
      if (near.destroyed) return void far.destroy();
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => other.destroy()).on('close', () => other.destroy());
        one.pipe(other);
      }
      return;
    }
    near.destroy();
  }

  const server = createServer((near) => void pass(keep(near).on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close(): void {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
