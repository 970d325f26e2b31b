import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a server, for its end. `server.close()` alone waits for a connection on which nothing was ever
 * sent, and for a request that arrived in part, as long as the client likes.
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
    /** Has to be told of each request whose answer `close` waits for. */
    onRequest(res: ServerResponse): void {
      if (closing) res.setHeader('Connection', 'close');
      answers.add(res);
      res.once('close', () => {
        answers.delete(res);
        // An answer whose headers had left before `close` promised to keep its connection.
        if (closing) server.closeIdleConnections();
      });
    },

    /**
     * Accepts no connection from now on, cuts those without a request under way, and the others when they have their
     * answer or when the time is over. Resolves when all are closed.
     */
    async close(withinMs: number): Promise<void> {
      closing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      // Requests that were sent without waiting for answers share a connection: the last of them ends it.
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
