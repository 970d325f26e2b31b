import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../../client/src/index.js';
import { packageRoot } from '../../src/shared/package-root.js';

test('each request names the client and the version of its package', async () => {
  const manifest = await readFile(join(packageRoot, 'client', 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const agents: (string | null)[] = [];
  const client = createClient({
    baseUrl: 'http://127.0.0.1:9',
    key: 'sk_sandbox_of_the_tests',
    fetch: async (_address, init) => {
      agents.push(new Headers(init?.headers).get('user-agent'));
      return Response.json({ success: true, data: [], pagination: {} });
    },
  });
  await client.listTransfers();
  expect(agents).toEqual([`bursar-client/${version}`]);
});
