import { connect, createServer, type AddressInfo } from 'node:net';
import { tiedSockets } from './tied-sockets.js';

/** The command's name in the bytes of the wire protocol. */
const COMMIT = 'commitTransaction';

/** Starts a proxy to mongod that can lose the answer to a commit, after mongod has carried it out. */
export async function startLossyProxy(mongodbUri: string) {
  const target = new URL(mongodbUri.replace('mongodb:', 'http:'));
  const sockets = tiedSockets();
  let lose: (() => void) | null = null;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let losing: (() => void) | null = null;
    client.on('data', (chunk) => {
      if (lose && chunk.includes(COMMIT)) [losing, lose] = [lose, null];
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => (losing ? losing() : client.write(chunk)));
    sockets.tie(client, upstream);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    uri: mongodbUri.replace(target.host, `127.0.0.1:${port}`),
    /** Resolves when mongod has answered the next commit and the answer was lost. */
    loseNextCommit: () =>
      new Promise<void>((resolve) => {
        lose = resolve;
      }),
    async close(): Promise<void> {
      sockets.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
