import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import supertest from 'supertest';
import { LISTED } from '../../../src/ops/operator-api/schema.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { openTestDatabase, type TestDatabase } from '../../support/database.js';
import { operatorSignIn, stopOperatorApis } from '../../support/operators.js';

let database: TestDatabase;
let url: string;
beforeAll(async () => {
  database = await openTestDatabase();
  const signIn = await operatorSignIn({
    MONGODB_URI: database.uri,
    BURSAR_DATABASE: database.name,
    BURSAR_KEY_PEPPER: 'a pepper that only the tests use, long enough',
    SANDBOX_BANK_SECRET: 'a secret of the tests',
    BURSAR_SEALING_KEYS: `test:${Buffer.alloc(32, 's').toString('base64')}`,
  });
  url = String(signIn['BURSAR_OPERATOR_URL']);
});
afterAll(async () => {
  await stopOperatorApis();
  await database.close();
});

const folder = join(packageRoot, 'src', 'ops', 'console', 'page');
const sources = readdirSync(folder);
const get = (path: string, init: RequestInit = {}) =>
  fetch(`${url}${path}`, { redirect: 'manual', ...init });

/** The OpenAPI document of the operator API. */
const documented = async () =>
  (await (await get('/openapi.json')).json()) as { paths: Record<string, object> };

const TYPES: Record<string, RegExp> = {
  html: /^text\/html; charset=utf-8$/,
  css: /^text\/css; charset=utf-8$/,
  js: /^text\/javascript; charset=utf-8$/,
};

test.each([...sources, ''])(
  'the file %s of the console is served without a sign-in, under a policy that permits nothing inline, no other host and no frame',
  async (name) => {
    const answer = await get(`/console/${name}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(
      TYPES[name.split('.')[1] ?? 'html'] as RegExp,
    );
    const policy = String(answer.headers.get('content-security-policy'));
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ]),
    );
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('cache-control')).toBe('public, no-cache');
    expect(answer.headers.get('set-cookie')).toBeNull();
    const tag = String(answer.headers.get('etag'));
    const again = await supertest(url).get(`/console/${name}`).set('If-None-Match', tag);
    expect([again.status, again.text]).toEqual([304, '']);
  },
);

test('/console leads to /console/ by a relative address, so that it works below a path of a proxy', async () => {
  const answer = await get('/console');
  expect([answer.status, answer.headers.get('location')]).toEqual([302, 'console/']);
});

test.each([
  '/console/unknown.js',
  '/console/constructor',
  '/console/%2e%2e/docs/index.html',
  '/console/..%2fpackage.json',
  '/consoles/',
  '/docs',
])('%s is 404', async (path) => {
  const answer = await get(path);
  expect([
    answer.status,
    ((await answer.json()) as { error: { code: string } }).error.code,
  ]).toEqual([404, 'not_found']);
  expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'");
});

test('the page says how long a list of the operator API is, so that the inbox can say that one is cut', async () => {
  const html = await (await get('/console/')).text();
  expect(html).toContain(`data-listed="${LISTED}"`);
  expect(html).not.toMatch(/%\w+%/);
});

test('the files of the console answer GET and HEAD only', async () => {
  const answer = await get('/console/', { method: 'POST' });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect((await get('/console/main.js', { method: 'HEAD' })).status).toBe(200);
});

test('every call that the console makes needs a sign-in', async () => {
  const document = await documented();
  for (const path of ['/me', '/attention', '/breaks', '/approvals', '/tenants', '/records']) {
    expect(Object.keys(document.paths)).toContain(`/operator/v1${path}`);
    expect([path, (await get(`/operator/v1${path}`)).status]).toEqual([path, 401]);
  }
});

test('the console loads only its own files, by relative addresses, and turns no text into HTML or code', () => {
  for (const name of sources) {
    const text = readFileSync(join(folder, name), 'utf8');
    expect([name, text]).toEqual([name, expect.not.stringMatching(/https?:|["'(]\/\//)]);
    expect([name, text]).toEqual([
      name,
      expect.not.stringMatching(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|localStorage|document\.cookie|\sstyle=|<style|javascript:/,
      ),
    ]);
    for (const [, from = ''] of text.matchAll(/^import [^;]* from '([^']*)'/gm)) {
      expect([name, sources]).toEqual([name, expect.arrayContaining([from.replace('./', '')])]);
    }
  }
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=/);
  const addresses = [...html.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, to]) => to);
  for (const to of addresses) expect(to).toMatch(/^(?:#\/inbox|icon\.svg|page\.css|main\.js)$/);
});

test('amounts of the console are exact to the last kobo, and never a float', async () => {
  const { money, sum } = await import(join(folder, 'format.js'));
  expect(
    [0, 5, 70, 100, 150_000, -151_000, 123_456_789, Number.MAX_SAFE_INTEGER].map((minor) =>
      money(minor),
    ),
  ).toEqual([
    '₦0.00',
    '₦0.05',
    '₦0.70',
    '₦1.00',
    '₦1,500.00',
    '-₦1,510.00',
    '₦1,234,567.89',
    '₦90,071,992,547,409.91',
  ]);
  expect([money(null), money(1_050, 'USD')]).toEqual(['–', 'USD 10.50']);
  expect(sum([Number.MAX_SAFE_INTEGER, 2, -1])).toBe(9_007_199_254_740_992n);
});

/** Kinds of ids that have no screen: they are parts of others, or have no route for one of them. */
const WITHOUT_SCREEN = [
  'key',
  'btr',
  'rpl',
  'cus',
  'req',
  'evt',
  'whe',
  'opr',
  'ocm',
  'rcn',
  'ten',
];

test('every kind of record has a screen, whose path the operator API has', async () => {
  const { KINDS } = (await import(join(folder, 'kinds.js'))) as {
    KINDS: Record<string, { path: string }>;
  };
  const text = readFileSync(join(packageRoot, 'src', 'shared', 'ids.ts'), 'utf8');
  const prefixes = [...text.matchAll(/^ {2}\w+: '(\w+)',$/gm)].map(([, prefix]) => prefix);
  expect([...Object.keys(KINDS), ...WITHOUT_SCREEN].toSorted()).toEqual(
    prefixes.map(String).toSorted(),
  );
  const { paths } = await documented();
  for (const { path } of Object.values(KINDS)) {
    expect(Object.keys(paths)).toContain(`/operator/v1${path}/{id}`);
  }
});
