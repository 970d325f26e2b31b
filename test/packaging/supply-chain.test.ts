import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';
import { installedInImage, type Lock } from './image-packages.js';

test('an installation runs no script of a package, in a clone and in the image', () => {
  const setting = execFileSync('npm', ['config', 'get', 'ignore-scripts'], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  expect(setting.trim()).toBe('true');
  const [copied = ''] = readFileSync(join(packageRoot, 'Dockerfile'), 'utf8').split('RUN npm ci');
  expect(copied).toMatch(/^COPY .*\.npmrc/m);
});

type Component = {
  'bom-ref': string;
  name: string;
  version: string;
  purl: string;
  hashes: { alg: string; content: string }[];
};

test('the bill of materials names every package of the image once, with version, address and hash', () => {
  const script = join(packageRoot, 'scripts', 'sbom.mjs');
  const printed = execFileSync(process.execPath, [script], { encoding: 'utf8' });
  const bill = JSON.parse(printed) as { specVersion: string; components: Component[] };
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
  const lock = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as Lock;
  const named = bill.components.map(({ 'bom-ref': path, name }) => ({ path, name }));
  expect(named).toEqual(installedInImage(lock));
  expect(named.map(({ name }) => name)).toEqual(expect.arrayContaining(['zod', 'mongodb', 'koa']));
  for (const { 'bom-ref': path, version, purl, hashes } of bill.components) {
    expect(version).toBe(lock.packages[path]?.version);
    expect(purl).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\S+$/);
    expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
  }
});
