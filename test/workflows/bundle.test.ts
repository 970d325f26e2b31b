import { readFileSync } from 'node:fs';

const bundle = readFileSync(String(process.env.BURSAR_TEST_BUNDLE), 'utf8');

/** Packages in the bundle: the bundler names every module by its path. */
const modules = new Set(
  [...bundle.matchAll(/node_modules\/((?:@[^/"'\s]+\/)?[^/"'\s\\]+)/g)].map((match) => match[1]),
);

describe('the workflow bundle', () => {
  test('contains no package with effects: no driver, server, validator or clock', () => {
    for (const name of [
      'mongodb',
      'koa',
      '@koa/router',
      'zod',
      'undici',
      'pino',
      'lru-cache',
      'typeid-js',
      'bson',
    ]) {
      expect([...modules]).not.toContain(name);
    }
    expect([...modules]).toContain('@temporalio/workflow');
  });

  test('contains the workflows and pure files of the domain, and no store, route or configuration', () => {
    expect(bundle).toContain('workflows/transfer.js');
    for (const file of [
      'store.js',
      'routes.js',
      'schema.js',
      'config.js',
      'deps.js',
      'group-commit.js',
    ]) {
      expect(bundle).not.toMatch(new RegExp(`dist/src/(?:[a-z-]+/)*${file}`));
    }
  });
});
