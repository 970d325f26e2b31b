import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { installedInImage, type Lock } from './image-packages.js';

const root = join(import.meta.dirname, '..', '..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  bin: Record<string, string>;
};
const production = installedInImage(JSON.parse(read('package-lock.json')) as Lock);

/** Programs that the image starts: the commands of docker-compose.yml and Dockerfile, and the command line. */
function entryPoints(): string[] {
  const named = (read('docker-compose.yml') + read('Dockerfile')).match(/\bdist\/[\w/-]+\.js\b/g);
  return [...new Set([...(named ?? []), ...Object.values(manifest.bin)])];
}

const IMPORT =
  /(?:\bfrom\s*|^import\s*|\bimport\(\s*|\brequire\(\s*|\bresolve\(\s*)(['"])([^'"\s]+)\1/gm;

/** Packages that compiled code imports, also by way of other files; `via` is the first file that does. */
function importedPackages(entries: readonly string[]): Map<string, string> {
  const packages = new Map<string, string>();
  const visited = new Set<string>();
  const queue = entries.map((entry) => join(root, entry));
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (visited.has(file)) continue;
    visited.add(file);
    for (const [, , specifier = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      if (specifier.startsWith('.')) {
        const next = join(dirname(file), specifier);
        if (/\.m?js$/.test(next) && existsSync(next)) queue.push(next);
      } else if (!specifier.startsWith('node:') && !builtinModules.includes(specifier)) {
        const name = specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/');
        if (!packages.has(name)) packages.set(name, relative(root, file));
      }
    }
  }
  return packages;
}

test('downloaders, unpackers and test helpers are no packages of production', () => {
  const names = new Set(production.map(({ name }) => name));
  for (const name of [
    '@temporalio/testing',
    'mongodb-memory-server-core',
    'tar-stream',
    'yauzl',
    'follow-redirects',
    'find-cache-dir',
    '@swc/jest',
    'jest',
    'typescript',
  ]) {
    expect({ name, inProduction: names.has(name) }).toEqual({ name, inProduction: false });
  }
});

test('the product is built without the benches', () => {
  const build = JSON.parse(read('tsconfig.build.json')) as { include: string[] };
  expect(build.include).not.toContain('bench');
  expect(existsSync(join(root, 'dist', 'bench'))).toBe(false);
  expect(read('Dockerfile') + read('.dockerignore')).not.toContain('bench');
});

test('the image installs at most 245 packages', () => {
  expect(production.length).toBeLessThanOrEqual(245);
});

test('a program of the image imports packages of production alone', () => {
  const entries = entryPoints();
  expect(entries.length).toBeGreaterThanOrEqual(4);
  const strangers = [...importedPackages(entries)].filter(
    ([name]) => manifest.dependencies[name] === undefined,
  );
  expect(strangers).toEqual([]);
});

test('each package of production is imported by a program of the image or by a workflow', () => {
  const bundled = 'dist/workflows/index.js';
  const imported = importedPackages([...entryPoints(), bundled]);
  const unused = Object.keys(manifest.dependencies).filter((name) => !imported.has(name));
  expect(unused).toEqual([]);
});
