import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { createSealing } from '../../../src/platform/sealing/sealing.js';
import { parseSealingKeys } from '../../../src/shared/sealing-keys.js';
import { loadConfig } from '../../../src/shared/config.js';

const newKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const sealingOf = (list: string) => createSealing(parseSealingKeys(list));
const [one, two] = [newKey('one'), newKey('two')];
const sealing = sealingOf(one);

const texts = fc.string({ unit: 'grapheme', maxLength: 60 });
const places = fc.record({ record: texts, field: texts });
/** Two places that differ in at least one part. */
const twoPlaces = fc
  .tuple(places, places)
  .filter(([a, b]) => a.record !== b.record || a.field !== b.field);

test('a sealed value opens at its place, and its text is nowhere in the sealed form', () => {
  fc.assert(
    fc.property(texts, places, (text, place) => {
      expect(sealing.open(sealing.seal(text, place), place)).toBe(text);
    }),
  );
  const sealed = sealing.seal('22212345678', { record: 'kyc_1', field: 'number' });
  expect(sealed).not.toContain('22212345678');
  expect(Buffer.from(sealed.slice(4), 'base64url').toString('latin1')).not.toContain('22212345678');
});

test('the same value is sealed differently each time', () => {
  const place = { record: 'kyc_1', field: 'number' };
  expect(sealing.seal('22212345678', place)).not.toBe(sealing.seal('22212345678', place));
});

test('a sealed value with one flipped bit does not open', () => {
  const place = { record: 'kyc_1', field: 'number' };
  fc.assert(
    fc.property(texts, fc.nat(), fc.nat(7), (text, at, bit) => {
      const [id, body = ''] = sealing.seal(text, place).split('.');
      const bytes = Buffer.from(body, 'base64url');
      const index = at % bytes.length;
      bytes.writeUInt8(bytes.readUInt8(index) ^ (1 << bit), index);
      expect(sealing.open(`${id}.${bytes.toString('base64url')}`, place)).toBeNull();
    }),
  );
});

test('a sealed value with a changed, added or missing character does not open', () => {
  const place = { record: 'kyc_1', field: 'number' };
  const aCharacter = fc.constantFrom(
    ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ',
  );
  fc.assert(
    fc.property(texts, fc.nat(), aCharacter, (text, at, character) => {
      const sealed = sealing.seal(text, place);
      const index = at % sealed.length;
      const [before, after] = [sealed.slice(0, index), sealed.slice(index + 1)];
      const changed = [
        before + character + after,
        before + character + sealed.slice(index),
        before + after,
        sealed + character,
        sealed.slice(0, index),
      ].filter((each) => each !== sealed);
      for (const each of changed) expect(sealing.open(each, place)).toBeNull();
    }),
  );
});

test('a sealed value does not open for another record or another field', () => {
  fc.assert(
    fc.property(texts, twoPlaces, (text, [place, another]) => {
      expect(sealing.open(sealing.seal(text, place), another)).toBeNull();
    }),
  );
});

test('a sealed value does not open under another key, with another id or with the same one', () => {
  const sameId = sealingOf(newKey('one'));
  fc.assert(
    fc.property(texts, places, (text, place) => {
      const sealed = sealing.seal(text, place);
      expect(sealingOf(two).open(sealed, place)).toBeNull();
      expect(sameId.open(sealed, place)).toBeNull();
      expect(sealingOf(`${one},${two}`).open(sealed.replace('one.', 'two.'), place)).toBeNull();
    }),
  );
});

test('after an exchange of keys the first one seals, and values of all listed keys open', () => {
  const place = { record: 'kyc_1', field: 'number' };
  const old = sealing.seal('22212345678', place);
  const rotated = sealingOf(`${two},${one}`);
  const renewed = rotated.seal('22212345678', place);
  expect([old, renewed].map((each) => rotated.open(each, place))).toEqual([
    '22212345678',
    '22212345678',
  ]);
  expect([old, renewed].map(rotated.isCurrent)).toEqual([false, true]);
  expect(sealing.open(renewed, place)).toBeNull();
});

test('a blind index is the same for equal values, differs by value, purpose and key, and is found after an exchange of keys', () => {
  fc.assert(
    fc.property(texts, texts, twoPlaces, (text, another, [{ record: a }, { record: b }]) => {
      const index = sealing.blindIndex(text, a);
      expect(sealing.blindIndex(text, a)).toBe(index);
      if (another !== text) expect(sealing.blindIndex(another, a)).not.toBe(index);
      if (a !== b) expect(sealing.blindIndex(text, b)).not.toBe(index);
      expect(sealingOf(two).blindIndexes(text, a)).not.toContain(index);
      expect(sealingOf(`${two},${one}`).blindIndexes(text, a)).toContain(index);
    }),
  );
});

const settings = (BURSAR_SEALING_KEYS: string | undefined, environment: 'sandbox' | 'live') => ({
  BURSAR_ENV: environment,
  MONGODB_URI: 'mongodb://127.0.0.1/',
  BURSAR_KEY_PEPPER: 'a pepper of the tests, long enough',
  SANDBOX_BANK_SECRET: 'a secret of the tests',
  ...(BURSAR_SEALING_KEYS !== undefined && { BURSAR_SEALING_KEYS }),
  ...(environment === 'live' && { BURSAR_LIVE_REHEARSAL: 'true' }),
});
const refusal = (keys: string | undefined, environment: 'sandbox' | 'live' = 'sandbox') => {
  try {
    loadConfig(settings(keys, environment));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

test.each(['sandbox', 'live'] as const)('%s does not start without sealing keys', (environment) => {
  expect(refusal(undefined, environment)).toContain('BURSAR_SEALING_KEYS');
  expect(refusal('', environment)).toContain('BURSAR_SEALING_KEYS');
  expect(refusal(`${one},${two}`, environment)).toBeNull();
});

test.each([
  ['a key that is too short', `k:${randomBytes(31).toString('base64')}`],
  ['a key that is too long', `k:${randomBytes(33).toString('base64')}`],
  ['a key without an id', randomBytes(32).toString('base64')],
  ['an id twice', `${newKey('a')},${newKey('a')}`],
  ['a key twice', `${one},two:${one.slice(4)}`],
  ['an id with a full stop', newKey('a.b')],
])('a list with %s is refused by a message that does not quote it', (_, list) => {
  const message = refusal(list);
  expect(message).toContain('BURSAR_SEALING_KEYS');
  for (const entry of list.split(',')) expect(message).not.toContain(entry.slice(-30));
});

test('live refuses example keys, wherever they are in the list', () => {
  const example = `dev:${Buffer.alloc(32, 's').toString('base64')}`;
  expect(refusal(example)).toBeNull();
  expect(refusal(example, 'live')).toContain('BURSAR_SEALING_KEYS');
  expect(refusal(`${one},${example}`, 'live')).toContain('BURSAR_SEALING_KEYS');
});
