import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import supertest from 'supertest';
import { TEST_CUSTOMERS } from '../../../sandbox-bank/billers/behaviours.js';
import { TEST_ACCOUNTS } from '../../../sandbox-bank/transfers/behaviours.js';
import { fillTables, testAccountsTable, testCustomersTable } from '../../../src/ops/docs/tables.js';
import { GUIDE } from '../../../src/ops/docs/reference.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { ERRORS } from '../../../src/shared/errors.js';
import { openApi } from '../../../src/composition/operations.js';
import { createTestApp } from './test-app.js';

let app: Awaited<ReturnType<typeof createTestApp>>;

beforeAll(async () => {
  app = await createTestApp();
});

afterAll(async () => {
  await app?.close();
});

const get = (path: string) => supertest(app.server).get(path);

const ASSETS: [string, RegExp][] = [
  ['/docs', /^text\/html; charset=utf-8$/],
  ['/docs/page.css', /^text\/css; charset=utf-8$/],
  ['/docs/page.js', /^text\/javascript; charset=utf-8$/],
  ['/docs/viewer.js', /^text\/javascript; charset=utf-8$/],
  ['/docs/icon.svg', /^image\/svg\+xml/],
  ['/docs/reference.json', /^application\/json; charset=utf-8$/],
];

test.each(ASSETS)(
  '%s is served without a key, with its type and its own content policy',
  async (path, type) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(type);
    const policy = String(answer.headers['content-security-policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'"]),
    );
    expect(answer.headers['content-encoding']).toBe('gzip');

    const head = await supertest(app.server).head(path);
    expect([head.status, head.headers['content-type']]).toEqual([
      200,
      answer.headers['content-type'],
    ]);
    expect(head.text ?? '').toBe('');

    const again = await get(path).set('If-None-Match', String(answer.headers['etag']));
    expect([again.status, again.text]).toEqual([304, '']);
    const plain = await get(path).set('Accept-Encoding', 'identity');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers['etag']).toBe(answer.headers['etag']);
  },
);

test('in live, the address of the API serves no page and no script', async () => {
  const live = await createTestApp({ environment: 'live' });
  try {
    for (const [path] of ASSETS) {
      expect([path, (await supertest(live.server).get(path)).status]).toEqual([path, 404]);
    }
    expect((await supertest(live.server).get('/openapi.json')).status).toBe(200);
  } finally {
    await live.close();
  }
});

/** The text with single spaces: prettier aligns the columns of tables. */
const spaces = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');

test('the documentation page loads only files of this service, and none from another host', async () => {
  const served = new Set([...ASSETS.map(([path]) => path), '/openapi.json']);
  const { text: html } = await get('/docs');
  const addresses = [...html.matchAll(/\s(?:src|href|action|srcset)="([^"]*)"/g)].map(
    ([, to]) => to,
  );
  expect(addresses).toContain('/docs/viewer.js');
  for (const address of addresses) expect(served).toContain(address);
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|<style/);

  const { text: css } = await get('/docs/page.css');
  expect(css).not.toMatch(/url\(|@import/);
  const { text: script } = await get('/docs/page.js');
  expect(script).not.toMatch(/https?:|\/\/[\w-]+\./);
  expect(script.match(/'\/[^']*'/g)).toEqual(["'/docs/reference.json'"]);
});

type Reference = { info: { description: string }; tags: { name: string; description?: string }[] };

test('the guide has all its pages, every error code and every test account', async () => {
  const { body } = await get('/docs/reference.json');
  const { info, tags } = body as Reference;
  const pages = tags.slice(0, GUIDE.length).map(({ description = '' }) => description);
  expect(pages.every((text) => text.length > 200)).toBe(true);
  const files = readdirSync(join(packageRoot, 'docs', 'guide')).map((name) => name.slice(0, -3));
  expect(files.toSorted()).toEqual([...GUIDE, 'introduction'].toSorted());

  const [errors = '', testValues = ''] = [
    GUIDE.indexOf('errors'),
    GUIDE.indexOf('test-values'),
  ].map((index) => pages[index]);
  for (const [code, [status]] of Object.entries(ERRORS)) {
    expect(spaces(errors ?? '')).toContain(`| \`${code}\` | ${status} |`);
  }
  for (const { ending, bank } of TEST_ACCOUNTS)
    expect(spaces(testValues ?? '')).toContain(`| ${ending} | ${bank} |`);

  // Links within the guide lead to existing pages, under the anchors that the viewer derives from their titles.
  const anchors = tags.map(({ name }) => name.toLowerCase().replaceAll(' ', '-'));
  const links = [info.description, ...pages].flatMap((text) => [
    ...text.matchAll(/\]\(([^)]*)\)/g),
  ]);
  const inside = links.map(([, to = '']) => to).filter((to) => !to.startsWith('https://'));
  expect(inside.length).toBeGreaterThan(5);
  for (const to of inside) {
    if (to !== '/openapi.json') expect(anchors).toContain(to.replace('#tag/', ''));
  }
});

test('the documentation has every operation, and no data of any account', async () => {
  const { text, body } = await get('/docs/reference.json');
  expect(Object.keys((body as ReturnType<typeof openApi>).paths ?? {})).toEqual(
    Object.keys(openApi().paths ?? {}),
  );
  expect(text).not.toMatch(/[sp]k_(?:sandbox|live)_[0-9A-Za-z]/);
});

const tables = {
  'test-accounts': () => testAccountsTable(TEST_ACCOUNTS),
  'test-customers': () => testCustomersTable(TEST_CUSTOMERS),
};

test('the tables in docs/guide match the code (npm run openapi)', () => {
  for (const page of GUIDE) {
    const text = readFileSync(join(packageRoot, 'docs', 'guide', `${page}.md`), 'utf8');
    expect(spaces(text)).toBe(spaces(fillTables(text, tables)));
  }
});

test.each([
  '/docs/unknown.js',
  '/docs/constructor',
  '/docs/%2e%2e/package.json',
  '/docs/..%2f..%2fpackage.json',
  '/docs/page/index.html',
  '/docsx',
])('%s is 404', async (path) => {
  const answer = await get(path);
  expect([answer.status, answer.body.error?.code]).toEqual([404, 'not_found']);
  expect(answer.headers['content-security-policy']).toBe("default-src 'none'");
});

test('the documentation page answers GET and HEAD only', async () => {
  const answer = await supertest(app.server).post('/docs').send({});
  expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD']);
  expect(answer.body.error.code).toBe('method_not_allowed');
});

test('loading the documentation page does not count against the other limit of an address', async () => {
  for (let i = 0; i < 100; i += 1) expect((await get('/docs')).status).toBe(200);
  expect((await get('/openapi.json')).status).toBe(200);
});

test('the files of the documentation page have a limit by address of their own', async () => {
  const limited = await createTestApp({ docsAllowance: { rate: 5, burst: 5 } });
  const statuses: number[] = [];
  for (let i = 0; i < 15; i += 1) {
    statuses.push((await supertest(limited.server).get('/docs/viewer.js')).status);
  }
  // The window may end once during the test.
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(10);
  expect(statuses).toContain(429);
  expect((await supertest(limited.server).get('/openapi.json')).status).toBe(200);
  await limited.close();
});
