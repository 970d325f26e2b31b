import { readFileSync } from 'node:fs';
import type { Operation } from '../../src/platform/http/operation.js';
import { openApi, operations } from '../../src/composition/operations.js';
import { allRoutes } from '../../src/composition/routes.js';
import { conformance } from '../support/conformance.js';
import { documented, pathWith, type Document, type Documented } from '../support/documented.js';
import { bodyFor, callbacks, fixtureOf, fixtures } from '../support/fixtures.js';
import { shareService, type Service } from '../support/service.js';
import type { TestTenant } from '../support/tenant.js';

let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  service = await shareService();
  tenant = await service.tenant();
});

afterAll(async () => {
  await service?.close();
});

const all: [string, Operation][] = Object.entries(operations);
/** Made once, because it takes a fifth of a second. */
const document = openApi();

test('every route is an operation of the document, and every operation has one route', () => {
  const routed = allRoutes(service.deps).map(({ operation }) => operation.id);
  expect(routed.toSorted()).toEqual(Object.keys(operations).toSorted());
  for (const [name, { id, method, path }] of all) {
    expect(name).toBe(id);
    const paths = document.paths as Record<string, Record<string, { operationId?: string }>>;
    expect(paths[`/api/v1${path}`]?.[method]?.operationId).toBe(id);
  }
});

test('openapi.json matches the code (npm run openapi)', () => {
  const kept = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(kept)).toEqual(JSON.parse(JSON.stringify(document)));
});

test('the OpenAPI document is served without a key', async () => {
  const answer = await fetch(`${service.api.url}/openapi.json`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(document)));
});

const described = documented(document as unknown as Document);
const problemsOf = conformance(document as unknown as Document);

describe('the OpenAPI document', () => {
  test.each(described.map((one): [string, Documented] => [one.id, one]))(
    'the document describes %s completely',
    (_id, one) => {
      expect(one.summary).not.toBe('');
      const { items = one.data } = one.data as { items?: object };
      expect(Object.keys(items)).toEqual(
        expect.arrayContaining([expect.stringMatching(/^(\$ref|properties)$/)]),
      );
    },
  );
});

describe('the examples of the OpenAPI document', () => {
  test.each(described.map((one): [string, Documented] => [one.id, one]))(
    '%s answers its example body as documented',
    async (id, one) => {
      const made: Record<string, string> = {};
      const body = await bodyFor(one.body, tenant, service);
      let request = { body: body === undefined ? undefined : JSON.stringify(body), headers: {} };
      for (const resource of one.resources) {
        if (one.level === null) {
          const { provider, ...callback } = fixtureOf(callbacks, resource, id)(service.env);
          made[resource] = provider;
          request = callback;
        } else made[resource] = await fixtureOf(fixtures, resource, id)(tenant, made, service);
      }
      const path = pathWith(one, (resource) => made[resource] ?? '');
      const reply = await tenant.call(one.method, path, request.body, { headers: request.headers });
      expect(reply.status).toBe(one.status);
      expect(problemsOf(one, reply)).toEqual([]);
      const example = operations[id as keyof typeof operations] as Operation;
      if (example.examples?.data === undefined) return;
      // The answer equals the example, except for ids and times.
      expect(withoutIdsAndTimes(reply.body.data)).toEqual(
        withoutIdsAndTimes(example.examples.data),
      );
    },
  );
});

/** Creates the resources in an operation's path, and returns its path and the example of its body. */
async function callOf(one: Documented): Promise<{ path: string; body: object }> {
  const made: Record<string, string> = {};
  const body = (await bodyFor(one.body, tenant, service)) ?? {};
  for (const resource of one.resources) {
    made[resource] = await fixtureOf(fixtures, resource, one.id)(tenant, made, service);
  }
  return { path: pathWith(one, (resource) => made[resource] ?? ''), body };
}

const posts = described.filter(({ method, level }) => method === 'POST' && level !== null);

describe('every POST of a tenant', () => {
  test.each(posts.map((one): [string, Documented] => [one.id, one]))(
    '%s takes the idempotency key in the body or in the header, and refuses two that differ',
    async (id, one) => {
      const { path, body } = await callOf(one);
      const key = `one key of ${id}`;
      const post = (headers: Record<string, string>) =>
        tenant.call('POST', path, JSON.stringify({ ...body, idempotency_key: key }), { headers });
      const different = await post({ 'idempotency-key': 'another key' });
      expect(different.status).toBe(400);
      expect(different.body).toMatchObject({ error: { field: 'idempotency_key' } });
      expect((await post({ 'idempotency-key': key })).status).toBe(one.status);
      expect((await post({})).status).toBe(one.status);
    },
  );

  test.each(
    posts.filter(({ status }) => status === 201).map((one): [string, Documented] => [one.id, one]),
  )('the Location of %s can be read with the same key', async (_id, one) => {
    const { path, body } = await callOf(one);
    const made = await tenant.call('POST', path, JSON.stringify(body));
    const location = String(made.headers.get('location')).replace('/api/v1', '');
    expect((await tenant.call('GET', location, undefined)).status).toBe(200);
  });
});

test('a card is named card_id in every path and in every answer that has a card', () => {
  const { paths, components } = document as unknown as {
    paths: object;
    components: { schemas: Record<string, { properties?: object }> };
  };
  expect(
    Object.keys(paths).filter((path) => /^\/api\/v1\/cards\/\{(?!card_id\})/.test(path)),
  ).toEqual([]);
  const about = ['Card', 'CardBalance', 'CardOperation', 'CardAuthorization', 'CardSecurity'];
  for (const name of [...about, 'CardAutoReload', 'CardEvent']) {
    expect([name, Object.keys(components.schemas[name]?.properties ?? {})]).toEqual([
      name,
      expect.arrayContaining(['card_id']),
    ]);
  }
  expect(components.schemas['CardLockedEvent']?.properties).toMatchObject({
    data: { $ref: '#/components/schemas/Card' },
  });
});

/** Replaces ids and times, which differ in each answer. */
const withoutIdsAndTimes = (data: unknown): unknown =>
  JSON.parse(
    JSON.stringify(data)
      .replaceAll(/"[a-z]{2,3}_[0-9a-z]{26}"/g, '"an id"')
      .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"'),
  );
