import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..', '..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as { engines: { node: string } };
const release = read('.nvmrc').trim();

const parts = (version: string) => version.split('.').map(Number);

function isAtLeast(version: string, least: string): boolean {
  const [a, b] = [parts(version), parts(least)];
  const differs = a.findIndex((part, index) => part !== b[index]);
  return differs === -1 || (a[differs] ?? 0) > (b[differs] ?? 0);
}

/** The two forms that `engines` uses: `^20.20.0` and `>=24.0.0`. */
function isInEngines(version: string): boolean {
  return manifest.engines.node.split(' || ').some((range) => {
    const [, form = '', least = ''] = /^(\^|>=)(\d+\.\d+\.\d+)$/.exec(range) ?? [];
    expect({ range, form }).not.toEqual({ range, form: '' });
    return isAtLeast(version, least) && (form === '>=' || parts(version)[0] === parts(least)[0]);
  });
}

test('.nvmrc and Dockerfile name one release of Node 24, which README and guide name too', () => {
  expect(release).toMatch(/^24\.\d+\.\d+$/);
  const images = read('Dockerfile').match(/^FROM node:[^\s-]+/gm);
  expect(new Set(images)).toEqual(new Set([`FROM node:${release}`]));
  expect(read('README.md')).toContain('You need Node 24 ');
  expect(read('docs/guide/getting-started.md')).toContain('You need Node.js 24 ');
});

test('engines, set-up, README and guide agree on the releases that Bursar runs on', async () => {
  const script = pathToFileURL(join(root, 'scripts', 'node-version.mjs')).href;
  const { isSupported } = (await import(script)) as { isSupported: (version: string) => boolean };
  const verdicts = {
    '18.20.8': false,
    '20.19.6': false,
    '20.20.0': true,
    '20.20.2': true,
    '21.7.3': false,
    '22.12.0': false,
    '22.13.0': true,
    '23.11.1': false,
    '24.0.0': true,
    '26.1.0': true,
    [release]: true,
  };
  for (const [version, supported] of Object.entries(verdicts)) {
    const expected = { version, engines: supported, setUp: supported };
    expect({
      version,
      engines: isInEngines(version),
      setUp: isSupported(version),
    }).toEqual(expected);
  }
  for (const page of ['README.md', 'docs/guide/getting-started.md']) {
    expect(read(page)).toContain('20.20 and 22.13 or later work too');
  }
});

test('no package of production requires more than the oldest release that Bursar runs on', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; engines?: { node?: string } }>;
  };
  const tooNew = Object.entries(packages).filter(([path, { dev, engines }]) => {
    const [, least] = /^>= ?(\d+(?:\.\d+){0,2})$/.exec(engines?.node ?? '') ?? [];
    return path !== '' && !dev && least !== undefined && !isAtLeast('20.20.0', `${least}.0.0`);
  });
  expect(tooNew.map(([path]) => path)).toEqual([]);
});

test('the tests run under the release of Node that the caller names in BURSAR_EXPECTED_NODE', () => {
  const expectedVersion = process.env['BURSAR_EXPECTED_NODE'];
  if (expectedVersion !== undefined) expect(process.versions.node).toBe(expectedVersion);
  expect(isInEngines(process.versions.node)).toBe(true);
});
