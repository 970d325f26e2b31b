import { randomBytes } from 'node:crypto';
import { reseal, usesOf, type ResealPosition } from '../../../src/platform/sealing/reseal.js';
import { sealedDatabase } from '../../../src/platform/sealing/sealed-database.js';
import { fieldIs } from '../../../src/platform/sealing/sealed-fields.js';
import { createSealing } from '../../../src/platform/sealing/sealing.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const NOTES = {
  name: 'notes',
  sealed: [
    { path: 'text', index: 'text_index' },
    { path: 'parts.secret', place: 'secret', byOwner: true as const },
    { path: 'mark', hashed: true as const },
  ],
};
const PAGES = { name: 'pages', sealed: [{ path: 'body' }] };
const COLLECTIONS = [NOTES, PAGES];
type Note = { _id: string; text: string; parts?: { secret: string }[]; mark?: string };

const key = (id: string) => ({ id, secret: randomBytes(32) });
const [one, two] = [key('one'), key('two')];
const sealedByOne = createSealing([one]);
const rotated = createSealing([two, one]);

let database: TestDatabase;
const notes = () => database.db.collection<Note>('notes');
const through = (sealing: typeof rotated) =>
  sealedDatabase(sealing, COLLECTIONS)(database.db).collection<Note>('notes');

beforeAll(async () => {
  database = await openTestDatabase([]);
});
afterAll(async () => {
  await database?.close();
});
beforeEach(async () => {
  await Promise.all(COLLECTIONS.map(({ name }) => database.db.collection(name).deleteMany({})));
});

/** Re-seals in steps, as short as a step can be. Returns the number of steps and of re-sealed records. */
async function inSteps(forMs: number, between: () => Promise<void> = async () => undefined) {
  let from: ResealPosition | null = null;
  const total = { steps: 0, resealed: 0, unopened: 0 };
  do {
    const step = await reseal(database.db, rotated, COLLECTIONS, { from, forMs });
    total.steps += 1;
    total.resealed += step.resealed;
    total.unopened += step.unopened;
    from = step.next;
    await between();
  } while (from !== null);
  return total;
}

const secretOf = (id: string) => ({
  secret: sealedByOne.seal(`a secret of ${id}`, { record: id, field: 'secret' }),
});
const note = (id: string): Note => ({
  _id: id,
  text: `text of ${id}`,
  parts: [secretOf(id), secretOf(id)],
});

test('every value is sealed under the first key afterwards, with its blind index, whoever seals it', async () => {
  const ids = Array.from({ length: 450 }, (_, i) => `note-${String(i).padStart(3, '0')}`);
  await through(sealedByOne).insertMany(ids.map(note));
  await database.db.collection<{ _id: string; body: string }>('pages').insertOne({
    _id: 'page',
    body: sealedByOne.seal('a page', { record: 'page', field: 'body' }),
  });
  expect(await usesOf(database.db, COLLECTIONS, 'one')).toEqual({ notes: 450, pages: 1 });
  expect(await inSteps(1)).toMatchObject({ resealed: 451, unopened: 0 });
  expect(await usesOf(database.db, COLLECTIONS, 'one')).toEqual({});
  const alone = createSealing([two]);
  const read = await through(alone).find().sort({ _id: 1 }).toArray();
  expect(read.map(({ text }) => text)).toEqual(ids.map((id) => `text of ${id}`));
  const [secret] = read[7]?.parts ?? [];
  const place = { record: 'note-007', field: 'secret' };
  expect(alone.open(String(secret?.secret), place)).toBe('a secret of note-007');
  const found = await through(alone).findOne(fieldIs(alone, NOTES, 'text', 'text of note-300'));
  expect(found?._id).toBe('note-300');
  expect(await inSteps(1_000)).toEqual({ steps: 1, resealed: 0, unopened: 0 });
});

test('a value in clear is sealed, one that no key opens is counted and stays, and a keyed hash still needs its key', async () => {
  const lost = createSealing([key('lost')]).seal('lost', { record: 'b', field: 'text' });
  await notes().insertMany([
    { _id: 'a', text: 'in clear' },
    { _id: 'b', text: lost },
    { _id: 'c', text: 'also in clear', mark: sealedByOne.blindIndex('x', 'mark') },
  ]);
  expect(await inSteps(1_000)).toMatchObject({ resealed: 2, unopened: 1 });
  expect((await notes().findOne({ _id: 'b' }))?.text).toBe(lost);
  expect((await notes().findOne({ _id: 'a' }))?.text).toMatch(/^two\./);
  expect((await through(rotated).findOne({ _id: 'a' }))?.text).toBe('in clear');
  expect(await usesOf(database.db, COLLECTIONS, 'one')).toEqual({ notes: 1 });
});

test('a record that is changed meanwhile keeps its newer value', async () => {
  const ids = Array.from({ length: 300 }, (_, i) => `note-${i}`);
  await through(sealedByOne).insertMany(ids.map(note));
  const written = new Map<string, string>();
  const write = async () => {
    for (const id of ids.filter(() => Math.random() < 0.1)) {
      const text = `newer text of ${id}, ${written.size}`;
      await through(rotated).updateOne({ _id: id }, { $set: { text } });
      written.set(id, text);
    }
  };
  await Promise.all([inSteps(5, write), write(), write()]);
  await inSteps(1_000);
  expect(await usesOf(database.db, COLLECTIONS, 'one')).toEqual({});
  for (const { _id, text } of await through(rotated).find().toArray()) {
    if (!written.has(_id)) expect(text).toBe(`text of ${_id}`);
    else expect(text).toContain(`newer text of ${_id}`);
  }
});
