import type { Socket } from 'node:net';

/** The sockets of something that stands between two others: what ends on one side ends on the other. */
export function tiedSockets() {
  const open = new Set<Socket>();
  return {
    /** Those that are open. */
    open,

    tie(near: Socket, far: Socket): void {
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        open.add(one);
        // An error is followed by the close.
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
