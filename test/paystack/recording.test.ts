import { readFileSync } from 'node:fs';
import { REFUSALS } from '../../src/core/providers/paystack/refusals.js';
import { compare, record, type RecordedCall } from '../fakes/paystack/recording.js';
import { KEY, startFake } from './support.js';

/** The requests of each call of the adapter. */
const CALLS = JSON.parse(readFileSync('test/paystack/calls.json', 'utf8')) as Record<
  string,
  string[]
>;

describe('the recording of Paystack’s answers', () => {
  let calls: RecordedCall[];

  beforeAll(async () => {
    const fake = await startFake();
    calls = await record({ url: fake.url, key: KEY });
    await fake.close();
  });

  test('every call is in it once, and none was refused for its form', () => {
    const names = calls.map(({ call }) => call);
    expect(new Set(names).size).toBe(names.length);
    const made = new Set(
      calls.map(({ method, path }) => `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`),
    );
    expect(Object.keys(CALLS).toSorted()).toEqual(Object.keys(REFUSALS).toSorted());
    for (const expected of Object.values(CALLS).flat()) expect([...made]).toContain(expected);
    for (const { status } of calls) expect([200, 201, 400, 404, 422]).toContain(status);
    expect(calls.find(({ call }) => call === 'transfer')?.status).toBe(200);
    expect(calls.find(({ call }) => call === 'transfer again')?.body).toMatchObject({
      code: 'duplicate_transfer_reference',
    });
    expect(calls.find(({ call }) => call === 'page')?.status).toBe(200);
  });

  test('it holds no key, no e-mail, no account number and no reference', () => {
    const text = JSON.stringify(calls);
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('@');
    expect(text).not.toMatch(/[0-9]{6}/);
    expect(text).not.toMatch(/(RCP|TRF|AUTH)_/);
  });

  test('the same answers have no difference, and each other answer has one that names its field', () => {
    expect(compare(calls, calls)).toEqual([]);
    const changed = calls.map((each) =>
      each.call === 'transfer'
        ? { ...each, body: { status: true, message: 'x', data: { amount: '<string>' } } }
        : each,
    );
    const differences = compare(changed, calls);
    expect(new Set(differences.map(({ call }) => call))).toEqual(new Set(['transfer']));
    expect(differences).toContainEqual({
      call: 'transfer',
      field: '.data.amount',
      paystack: 'string',
      fake: 'number',
    });
  });
});
