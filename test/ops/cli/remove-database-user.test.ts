import type { Document, MongoClient } from 'mongodb';
import { removeUser } from '../../../src/ops/cli/database-users.js';

/** A server that answers `hello` with this, and has these connections; with all that it was sent. */
function server(hello: Document, connections: readonly Document[] = []) {
  const sent: Document[] = [];
  const db = {
    command: async (command: Document) => {
      sent.push(command);
      return 'hello' in command ? hello : { ok: 1 };
    },
    aggregate: ([first]: Document[]) => {
      sent.push(first ?? {});
      return { toArray: async () => connections };
    },
  };
  return { client: { db: () => db } as unknown as MongoClient, sent };
}

const MONGOS = { msg: 'isdbgrid' };
const user = { name: 'bursar_service', everyMongos: false };
const LOOK = { allUsers: true, idleConnections: true };
const removed = { dropUser: 'bursar_service' };

test('at a mongod, a user without connections to the primary is removed', async () => {
  const { client, sent } = server({ isWritablePrimary: true });
  expect(await removeUser(client, user)).toBe('bursar_service');
  expect(sent).toEqual([{ hello: 1 }, { $currentOp: LOOK }, removed]);
});

test('a mongos is asked for its own connections, and removes no user before an operator says that all were asked', async () => {
  const { client, sent } = server(MONGOS);
  await expect(removeUser(client, user)).rejects.toThrow('Run this at each mongos');
  expect(sent).toEqual([{ hello: 1 }, { $currentOp: { ...LOOK, localOps: true } }]);
  expect(await removeUser(client, { ...user, everyMongos: true })).toBe('bursar_service');
  expect(sent.at(-1)).toEqual(removed);
});

test.each([MONGOS, {}])(
  'a user that is signed in is not removed, whatever is said (%j)',
  async (hello) => {
    const { client, sent } = server(hello, [{ _id: 'bursar-worker', connections: 3 }]);
    const all = { ...user, everyMongos: true };
    await expect(removeUser(client, all)).rejects.toThrow('connections of bursar-worker: 3');
    expect(sent).not.toContainEqual(removed);
  },
);
