import request from 'supertest';
import { createTestApp } from '../http/test-app.js';

test('requests are counted and timed by route pattern, method and status, never by text of a caller', async () => {
  const app = await createTestApp();
  const { key, id, tenantId } = await app.createKey();
  const call = (method: 'get' | 'post' | 'trace', path: string) =>
    request(app.server)[method](path).set('Authorization', `Bearer ${key}`);
  for (const thing of ['0123456789', 'trf_1', 'a%20b'])
    await call('get', `/api/v1/things/${thing}`);
  await call('post', '/api/v1/things').send({ account: '0123456789' });
  await call('get', '/api/v1/broken');
  for (const path of ['/wp-login.php', '/api/v1/nowhere', '/secret-1']) await call('get', path);
  await call('trace', '/api/v1/things');
  await request(app.server).get('/api/v1/things');
  await call('get', '/health/live');

  const text = await app.registry.metrics();
  const total = text.split('\n').filter((line) => line.startsWith('bursar_http_requests_total{'));
  expect(total.toSorted()).toEqual([
    'bursar_http_requests_total{route="/api/v1/broken",method="GET",status="500"} 1',
    'bursar_http_requests_total{route="/api/v1/things",method="POST",status="400"} 1',
    'bursar_http_requests_total{route="/api/v1/things/:id",method="GET",status="200"} 3',
    'bursar_http_requests_total{route="none",method="GET",status="401"} 1',
    'bursar_http_requests_total{route="none",method="GET",status="404"} 3',
    'bursar_http_requests_total{route="none",method="other",status="405"} 1',
  ]);
  expect(text).toContain(
    'bursar_http_request_duration_seconds_count{route="/api/v1/things/:id",method="GET",status_class="2xx"} 3',
  );
  expect(text).toContain('bursar_http_requests_in_flight{state="working"} 0');
  expect(text).toContain('bursar_http_refused_total{reason="event_loop"} 0');
  expect(text).toContain('bursar_http_errors_total{code="unauthorized"} 1');
  // An alert sees the first error of a code as an increase only if the series was there before.
  expect(text).toContain('bursar_http_errors_total{code="ip_not_allowed"} 0');
  for (const private_ of ['0123456789', 'trf_1', 'wp-login', 'nowhere', tenantId, id, key]) {
    expect(text).not.toContain(private_);
  }
  await app.close();
});
