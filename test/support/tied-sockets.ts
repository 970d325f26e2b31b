import type { Socket } from 'node:net';

/** The socket pairs of a proxy: when one side ends, the other is closed. */
export function tiedSockets() {
  const open = new Set<Socket>();
  return {
    /** The open sockets. */
    open,

    tie(near: Socket, far: Socket): void {
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        open.add(one);
        // A close follows every error.
        one.on('error', () => {});
        one.on('close', () => {
          open.delete(one);
          other.destroy();
        });
      }
    },

    destroy(): void {
      for (const socket of open) socket.destroy();
    },
  };
}
