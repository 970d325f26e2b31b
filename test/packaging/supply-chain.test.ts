import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';

test('an installation runs no script of a package, in a clone and in the image', () => {
  const setting = execFileSync('npm', ['config', 'get', 'ignore-scripts'], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  expect(setting.trim()).toBe('true');
  const [copied = ''] = readFileSync(join(packageRoot, 'Dockerfile'), 'utf8').split('RUN npm ci');
  expect(copied).toMatch(/^COPY .*\.npmrc/m);
});
