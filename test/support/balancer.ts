import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tiedSockets } from './tied-sockets.js';

/**
 * A TCP load balancer in front of APIs of which some may be down: each connection goes to the next one that accepts it.
 */
export async function startBalancer(ports: readonly number[]) {
  const sockets = tiedSockets();
  let turn = 0;

  async function pass(near: Socket): Promise<void> {
    const first = (turn += 1);
    for (const [i] of ports.entries()) {
      const far = await reach(ports[(first + i) % ports.length] as number);
      if (far === null) continue;
      if (near.destroyed) return void far.destroy();
      sockets.tie(near, far);
      near.pipe(far).pipe(near);
      return;
    }
    near.destroy();
  }

  const server = createServer((near) => void pass(near.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close(): void {
      server.close();
      sockets.destroy();
    },
  };
}

async function reach(port: number): Promise<Socket | null> {
  const far = connect({ host: '127.0.0.1', port });
  return once(far, 'connect').then(
    () => far,
    () => null,
  );
}
