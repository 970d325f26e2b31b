import { readFileSync } from 'node:fs';
import type { Operation } from '../../src/http/operation.js';
import { openApi, operations } from '../../src/operations.js';
import { allRoutes } from '../../src/routes.js';
import { startService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService();
  tenant = await service.tenant();
});

afterAll(async () => {
  await service?.close();
});

const all: [string, Operation][] = Object.entries(operations);

test('every route is an operation of the document, and every operation has one route', () => {
  const routed = allRoutes(service.deps).map(({ operation }) => operation.id);
  expect(routed.toSorted()).toEqual(Object.keys(operations).toSorted());
  for (const [name, { id, method, path }] of all) {
    expect(name).toBe(id);
    const paths = openApi.paths as Record<string, Record<string, { operationId?: string }>>;
    expect(paths[`/api/v1${path}`]?.[method]?.operationId).toBe(id);
  }
});

test('the document in the repository is the one that the code makes (npm run openapi)', () => {
  const kept = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(kept)).toEqual(JSON.parse(JSON.stringify(openApi)));
});

test('the document is served to anybody', async () => {
  const answer = await fetch(`${service.api.url}/openapi.json`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(openApi)));
});

describe('the example of a body is accepted as the document says', () => {
  test.each(all.filter(([, { examples }]) => examples?.body !== undefined))(
    '%s',
    async (_id, { method, path, examples, answer }) => {
      const body = JSON.stringify(examples?.body);
      const reply = await tenant.call(method.toUpperCase(), path, body);
      expect(reply.status).toBe(answer.status);
      // Exactly: a field that the document does not name would fail.
      expect(answer.data.parse(reply.body.data)).toEqual(reply.body.data);
    },
  );
});
