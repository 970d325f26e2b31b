import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Tracks the connections of a server, so that it can be closed in bounded time. `server.close()` alone waits without a
 * limit for unused connections and for requests that have arrived in part.
 */
export function trackConnections(server: Server) {
  const sockets = new Set<Socket>();
  const answers = new Set<ServerResponse>();
  let closing = false;

  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return {
    /** Registers a request, so that `close` waits for its answer. */
    onRequest(res: ServerResponse): void {
      if (closing) res.setHeader('Connection', 'close');
      answers.add(res);
      res.once('close', () => {
        answers.delete(res);
        // An answer whose headers were sent before `close` has announced keep-alive.
        if (closing) server.closeIdleConnections();
      });
    },

    /**
     * Stops accepting connections and closes those without a request in progress. The others are closed after their
     * answer, or when the time is over. Resolves when all are closed.
     */
    async close(withinMs: number): Promise<void> {
      closing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      // Pipelined requests share a connection, which the answer to the last one closes.
      const last = new Map([...answers].map((res) => [res.req.socket, res]));
      for (const socket of sockets) if (!last.has(socket)) socket.destroy();
      for (const res of last.values()) if (!res.headersSent) res.setHeader('Connection', 'close');
      const limit = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, withinMs);
      await closed;
      clearTimeout(limit);
    },
  };
}
