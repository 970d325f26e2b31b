import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { MongoError } from 'mongodb';

/** What is used of the driver's own class of connections, which it does not export. */
type DriverConnection = {
  socket: Socket;
  /** Why it was closed. */
  error: Error | null;
  onClose: (this: DriverConnection) => void;
  writeCommand: (this: DriverConnection, ...args: unknown[]) => Promise<void>;
};
type Internals = { Connection: { prototype: DriverConnection } };

const PATCHED = Symbol.for('bursar.driver-patched');

/**
 * Mends the driver (7.8, 7.9) where a connection goes while a command is being written, or its server is frozen under a
 * large one. Such a command hears of errors of its socket, and not of its end: it would wait for ever, and with it a
 * lane of wallets. And what it hears is the bare error of the socket, which nobody takes for a database that is away.
 */
export function patchMongoDriver(): void {
  const require = createRequire(import.meta.url);
  const { prototype } = (require('mongodb/lib/cmap/connection.js') as Internals).Connection;
  if (PATCHED in prototype) return;
  const { onClose, writeCommand } = prototype;
  Object.assign(prototype, {
    [PATCHED]: true,
    onClose(this: DriverConnection): void {
      onClose.call(this);
      if (this.socket.listenerCount('drain') > 0) this.socket.emit('error', this.error);
    },
    async writeCommand(this: DriverConnection, ...args: unknown[]): Promise<void> {
      try {
        await writeCommand.apply(this, args);
      } catch (error) {
        throw this.error instanceof MongoError ? this.error : error;
      }
    },
  });
}
