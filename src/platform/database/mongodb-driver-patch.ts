import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { MongoError } from 'mongodb';

/** The members of the driver's connection class that the patch uses. The driver does not export the class. */
type DriverConnection = {
  socket: Socket;
  /** The error with which the connection was closed. */
  error: Error | null;
  onClose: (this: DriverConnection) => void;
  writeCommand: (this: DriverConnection, ...args: unknown[]) => Promise<void>;
};
type Internals = { Connection: { prototype: DriverConnection } };

const PATCHED = Symbol.for('bursar.driver-patched');

/**
 * Works around a fault of the MongoDB driver (7.8, 7.9): a connection closes while a command is being written, or while
 * its server is frozen under a large command. The command then gets errors of the socket but not its end, so it and
 * every later commit in its queue would wait forever. It also gets the plain socket error, which the service would not
 * recognise as an unavailable database.
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
