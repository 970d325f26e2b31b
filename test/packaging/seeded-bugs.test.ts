import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/shared/package-root.js';
import { run } from '../support/cli.js';

test('each seeded bug of the random-fault runs still applies to the build', async () => {
  const script = pathToFileURL(join(packageRoot, 'scripts', 'seeded-bugs.mjs')).href;
  const check = `import { checkSeededBugs } from '${script}'; checkSeededBugs();`;
  const args = ['--input-type=module', '--eval', check];
  expect(await run(process.execPath, args, {})).toEqual({ code: 0, out: '', error: '' });
});
