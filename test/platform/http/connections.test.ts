import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { trackConnections } from '../../../src/platform/http/connections.js';

/** Longer than this file may take, so no connection that ends earlier has waited for it. */
const LONG_MS = 600_000;
const REQUEST = 'GET / HTTP/1.1\r\nHost: bursar\r\n\r\n';

async function start(text: string) {
  const answers: ServerResponse[] = [];
  const server = createServer((_req, res) => {
    connections.onRequest(res);
    answers.push(res);
  });
  const connections = trackConnections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () =>
    socket.write(text),
  );
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  const ended = once(socket, 'close');
  const requests = text.split(REQUEST).length - 1;
  while (answers.length < requests) await new Promise((resolve) => setTimeout(resolve, 5));
  return { answers, connections, ended, received: () => received };
}

test('a connection whose answer began before the server closes is closed after the answer', async () => {
  const { answers, connections, ended, received } = await start(REQUEST);
  answers[0]?.write('begun, ');
  const closed = connections.close(LONG_MS);
  answers[0]?.end('ended');
  await closed;
  await ended;
  expect(received()).not.toMatch(/connection: close/i);
  expect(received()).toContain('ended');
});

test('requests that share a connection are all answered before it is closed', async () => {
  const { answers, connections, ended, received } = await start(REQUEST + REQUEST);
  const closed = connections.close(LONG_MS);
  answers[0]?.end('first');
  answers[1]?.end('second');
  await closed;
  await ended;
  expect(received()).toMatch(/first[^]*connection: close[^]*second/i);
});

test('a connection whose answer never comes is closed after the time limit', async () => {
  const { connections, ended, received } = await start(REQUEST);
  await connections.close(50);
  await ended;
  expect(received()).toBe('');
});
