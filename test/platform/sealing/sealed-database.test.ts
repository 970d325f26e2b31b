import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { sealAhead, sealedDatabase } from '../../../src/platform/sealing/sealed-database.js';
import { fieldIs } from '../../../src/platform/sealing/sealed-fields.js';
import { createSealing } from '../../../src/platform/sealing/sealing.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';

const PEOPLE = {
  name: 'people',
  sealed: [
    { path: 'code', index: 'code_index' },
    { path: 'home.street' },
    { path: 'home.town' },
    { path: 'friends.name' },
    { path: 'own', byOwner: true as const },
  ],
};
type Person = {
  _id: string;
  code: string | null;
  home?: { street: string; town: string | null; country: string };
  friends?: { name: string; since: number }[];
  own?: string;
  count?: number;
};

const key = (id: string) => ({ id, secret: randomBytes(32) });
const [one, two] = [key('one'), key('two')];
const ADA: Person = {
  _id: 'ada',
  code: 'code-of-ada',
  home: { street: 'Plain Street 1', town: 'Plaintown', country: 'NG' },
  friends: [
    { name: 'Plainfriend Eze', since: 1 },
    { name: 'Plainfriend Obi', since: 2 },
  ],
};
const CLEAR = /code-of|Plain/;

let database: TestDatabase;
let db: Db;
const opened = (...keys: (typeof one)[]) =>
  sealedDatabase(createSealing(keys), [PEOPLE])(database.db).collection<Person>('people');
const stored = async (_id: string) =>
  JSON.stringify(await database.db.collection<Person>('people').findOne({ _id }));

beforeAll(async () => {
  database = await openTestDatabase([]);
  db = database.db;
});
afterAll(async () => {
  await database?.close();
});
beforeEach(async () => {
  await db.collection('people').deleteMany({});
});

test('each way to write seals, and each way to read opens', async () => {
  const { _id, ...fields } = ADA;
  const people = opened(one);
  await people.insertOne(ADA);
  await people.insertMany([{ ...ADA, _id: 'ben' }]);
  await people.bulkWrite([
    { insertOne: { document: { ...ADA, _id: 'cem' } } },
    { replaceOne: { filter: { _id: 'dan' }, replacement: fields, upsert: true } },
    {
      updateOne: { filter: { _id: 'eve' }, update: { $set: fields }, upsert: true },
    },
  ]);
  await people.replaceOne({ _id: 'fay' }, fields, { upsert: true });
  await people.updateOne(
    { _id: 'gus' },
    { $set: { 'home.town': 'Plainville' }, $setOnInsert: { code: 'code-of-gus' } },
    { upsert: true },
  );
  for (const name of ['ada', 'ben', 'cem', 'dan', 'eve', 'fay', 'gus']) {
    expect(await stored(name)).not.toMatch(CLEAR);
  }
  for (const name of ['ada', 'ben', 'cem', 'dan', 'eve', 'fay']) {
    expect(await people.findOne({ _id: name })).toEqual({ ...ADA, _id: name });
  }
  expect(await people.findOne({ _id: 'gus' })).toEqual({
    _id: 'gus',
    code: 'code-of-gus',
    home: { town: 'Plainville' },
  });
  const listed = await people.find({}).sort({ _id: 1 }).limit(6).toArray();
  expect(listed.map((person) => person.home?.street)).toEqual(Array(6).fill('Plain Street 1'));
  const changed = await people.findOneAndUpdate(
    { _id: 'ada' },
    { $set: { home: { street: 'Plainway 2', town: null, country: 'NG' } }, $inc: { count: 1 } },
    { returnDocument: 'after' },
  );
  expect(changed).toMatchObject({ home: { street: 'Plainway 2', town: null }, count: 1 });
  expect(await stored('ada')).not.toMatch(CLEAR);
});

test('a document that was sealed ahead is inserted as it was sealed, and its parts nowhere else', async () => {
  const people = opened(one);
  const raw = db.collection<Person>('people');
  const street = async (_id: string) => (await raw.findOne({ _id }))?.home?.street;
  const insert = async (document: Person) => {
    await people.deleteMany({});
    await people.insertMany([document]);
    expect(await people.findOne({ _id: document._id })).toEqual(document);
    expect(await stored(document._id)).not.toMatch(CLEAR);
    return street(document._id);
  };
  const home = { street: 'Plain Street 1', town: null, country: 'NG' };
  const early = { ...ADA, home };
  sealAhead(people, early);
  const first = await insert({ ...early, count: 1 });
  expect(await insert({ ...early, count: 2 })).toBe(first);
  // Another record, another object or another value is sealed anew.
  expect(await insert({ ...early, _id: 'ben' })).not.toBe(first);
  expect(await insert({ ...early, home: { ...home } })).not.toBe(first);
  home.street = 'Plainway 2';
  expect(await insert(early)).not.toBe(first);
});

test('an update that names no single record cannot seal, and one that sets no sealed field is as before', async () => {
  const people = opened(one);
  await people.insertOne(ADA);
  const all = { $set: { code: 'code-of-all' } };
  expect(() => people.updateMany({}, all)).toThrow('needs a text and the id of its record');
  expect(() => people.updateOne({ count: 1 }, all)).toThrow('needs a text and the id');
  await people.updateMany({}, { $set: { count: 7, code: null } });
  expect(await people.findOne({ _id: 'ada' })).toEqual({ ...ADA, count: 7, code: null });
});

test('a record is found by the blind index of a sealed field, under every key of the list', async () => {
  await opened(one).insertOne(ADA);
  const is = (value: string | null, ...keys: (typeof one)[]) =>
    fieldIs(createSealing(keys), PEOPLE, 'code', value);
  const rotated = opened(two, one);
  expect((await rotated.findOne(is('code-of-ada', two, one)))?._id).toBe('ada');
  expect(await rotated.findOne(is('code-of-ben', two, one))).toBeNull();
  expect(await rotated.findOne(is('code-of-ada', two))).toBeNull();
  await rotated.updateOne({ _id: 'ada' }, { $set: { code: null } });
  expect((await rotated.findOne(is(null, two)))?._id).toBe('ada');
});

test('a value that was written before its field was sealed is read as it is, and found', async () => {
  await db.collection<Person>('people').insertOne(ADA);
  expect(await opened(one).findOne({ _id: 'ada' })).toEqual(ADA);
  const isCode = (value: string) => fieldIs(createSealing([one]), PEOPLE, 'code', value);
  expect(await opened(one).findOne(isCode('code-of-ada'))).toEqual(ADA);
  expect(await opened(one).findOne(isCode('code-of-ben'))).toBeNull();
});

test('without the key, and in another record or field, a sealed value is an error that does not quote it', async () => {
  await opened(one).insertOne(ADA);
  await expect(opened(two).findOne({ _id: 'ada' })).rejects.toThrow(
    'people.code cannot be opened: it was changed, or BURSAR_SEALING_KEYS lacks the key one',
  );
  const raw = db.collection<Person>('people');
  const { home } = (await raw.findOne({ _id: 'ada' })) as Person;
  await raw.updateOne({ _id: 'ada' }, { $set: { 'home.town': String(home?.street) } });
  await expect(opened(one).findOne({ _id: 'ada' })).rejects.toThrow('people.home.town cannot be');
});

test('a field that its owner seals is left alone', async () => {
  const people = opened(one);
  await people.insertOne({ ...ADA, own: 'one.already-sealed-by-its-owner-and-long-enough-for-it' });
  expect((await people.findOne({ _id: 'ada' }))?.own).toContain('already-sealed');
  expect(await stored('ada')).toContain('already-sealed');
});
