import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import request from 'supertest';
import { openApi } from '../../../src/composition/operations.js';
import { measureBuild } from '../../../src/platform/metrics/build.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { createTestApp } from './test-app.js';

test('the service is ready when every check passes; otherwise the answer names the failed check, not the reason', async () => {
  let broken = false;
  const app = await createTestApp({
    checks: {
      database: async () => undefined,
      temporal: async () => {
        if (broken) throw new Error('host 10.0.0.7 refused user bursar');
      },
    },
  });
  const ready = await request(app.server).get('/health/ready');
  expect(ready.status).toBe(200);
  expect(ready.body).toEqual({
    success: true,
    data: { status: 'ready', checks: { database: 'ok', temporal: 'ok' } },
  });
  broken = true;
  const failing = await request(app.server).get('/health/ready');
  expect(failing.status).toBe(503);
  expect(failing.body).toEqual({
    success: false,
    error: {
      code: 'service_unavailable',
      message: 'Not ready.',
      status: 503,
      details: { status: 'not_ready', checks: { database: 'ok', temporal: 'failed' } },
    },
  });
  expect(app.lines.join('')).toContain('10.0.0.7');
  expect((await request(app.server).get('/health/live')).status).toBe(200);
  await app.close();
});

test('package.json, the document, the answer of /health/live and the metric name the same release', async () => {
  const app = await createTestApp();
  const manifest = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8'));
  const live = await request(app.server).get('/health/live');
  const registry = new Registry();
  measureBuild(registry);
  const [build] = (await registry.getSingleMetric('bursar_build_info')?.get())?.values ?? [];
  expect([openApi().info.version, live.body.data, build?.labels['version']]).toEqual([
    manifest.version,
    { status: 'live', version: manifest.version },
    manifest.version,
  ]);
  await app.close();
});

test('a health check that hangs counts as failed', async () => {
  const app = await createTestApp({ checks: { database: () => new Promise(() => {}) } });
  const answer = await request(app.server).get('/health/ready');
  expect(answer.body.error.details.checks).toEqual({ database: 'failed' });
  await app.close();
});

test('1,000 readiness requests in the time that a result is kept cause one check, and draining shows at once', async () => {
  let pings = 0;
  const app = await createTestApp({
    checks: { database: async () => void (pings += 1) },
    healthKeptMs: 600_000,
  });
  const ask = async () => (await request(app.server).get('/health/ready')).status;
  for (let i = 0; i < 20; i += 1) {
    const statuses = await Promise.all(Array.from({ length: 50 }, ask));
    expect(new Set(statuses)).toEqual(new Set([200]));
  }
  expect(pings).toBe(1);
  app.health.startDraining();
  expect(await ask()).toBe(503);
  await app.close();
});

test('every health answer has a request id and the headers of the rate limit, which none uses up', async () => {
  const app = await createTestApp({ checks: { database: () => Promise.reject(new Error()) } });
  const agent = request(app.server);
  const [live, failing, refused] = [
    await agent.get('/health/live'),
    await agent.get('/health/ready'),
    await agent.delete('/health/live'),
  ];
  expect([live.status, failing.status, refused.status]).toEqual([200, 503, 405]);
  for (const { headers } of [live, failing, refused]) {
    expect(headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^req_/),
      'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
      'x-ratelimit-remaining': headers['x-ratelimit-limit'],
      'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
    });
  }
  await app.close();
});

test('health checks need no key and count against no limit', async () => {
  const app = await createTestApp();
  const statuses = await Promise.all(
    Array.from({ length: 200 }, async () => (await request(app.server).get('/health/live')).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect((await request(app.server).head('/health/ready')).status).toBe(200);
  expect((await request(app.server).post('/health/ready')).status).toBe(405);
  await app.close();
});
