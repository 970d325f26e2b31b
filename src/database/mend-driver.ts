import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

/** What is used of the driver's own class of connections, which it does not export. */
type DriverConnection = {
  socket: Socket;
  error: Error | null;
  onClose: (this: DriverConnection) => void;
};
type Internals = { Connection: { prototype: DriverConnection } };

const MENDED = Symbol.for('bursar.mended');

/**
 * Mends the driver (7.8, 7.9). A command that waits until its socket takes more bytes hears of that socket's errors and
 * not of its end: where a server is frozen under a large command, or a connection goes while a command is being written,
 * it would wait for ever, and with it a lane of wallets. Here the end is an error to it.
 */
export function mendDriver(): void {
  const require = createRequire(import.meta.url);
  const { prototype } = (require('mongodb/lib/cmap/connection.js') as Internals).Connection;
  if (MENDED in prototype) return;
  const { onClose } = prototype;
  Object.assign(prototype, {
    [MENDED]: true,
    onClose(this: DriverConnection): void {
      onClose.call(this);
      if (this.socket.listenerCount('drain') > 0) this.socket.emit('error', this.error);
    },
  });
}
