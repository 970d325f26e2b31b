import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApi, operations as declared } from '../../src/composition/operations.js';
import { packageRoot } from '../../src/shared/package-root.js';

type Documented = { operationId: string; summary: string; parameters?: { name: string }[] };
const operations = Object.entries(
  openApi().paths as unknown as Record<string, Record<string, Documented>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

/** The operations of which a repeat needs no key. */
const SAFE: ReadonlySet<string> = new Set(
  Object.values(declared).flatMap((each) => ('safe' in each ? [each.id] : [])),
);

const guide = join('docs', 'guide');
const PAGES = ['README.md', ...readdirSync(join(packageRoot, guide)).map((n) => join(guide, n))];
const read = (page: string) => readFileSync(join(packageRoot, page), 'utf8');

/** The requests of a page to the API, each with its method, its path and the whole command. */
const requestsOf = (page: string) =>
  [...read(page).matchAll(/^```sh\n([^]*?)^```/gm)]
    .flatMap(([, block = '']) => block.split(/^(?=curl )/m))
    .flatMap((command) => {
      const [, path] = /^curl [^]*?"\$API(\/api\/v1[^"?]*)/.exec(command) ?? [];
      if (path === undefined) return [];
      const [, named] = /-X (\w+)/.exec(command) ?? [];
      const method = named ?? (/\s-d\s/.test(command) ? 'POST' : 'GET');
      return [{ page, command, path, method: method.toLowerCase() }];
    });

const isAt = (template: string, path: string) =>
  new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);

test('every request of the guide is an operation, and has an idempotency key where that makes a repeat safe', () => {
  const requests = PAGES.flatMap(requestsOf);
  expect(requests.length).toBeGreaterThan(20);
  for (const { page, command, path, method } of requests) {
    const operation = operations.find((each) => each.method === method && isAt(each.path, path));
    expect({ page, command, found: operation !== undefined }).toMatchObject({ found: true });
    const takesKey = operation?.parameters?.some(({ name }) => name === 'Idempotency-Key');
    const isSafe = SAFE.has(operation?.operationId ?? '');
    if (takesKey && !isSafe) expect(command).toContain("-H 'Idempotency-Key: ");
  }
  const elsewhere = PAGES.filter((page) => read(page).includes('$BURSAR_'));
  expect(elsewhere).toEqual([]);
});

test('every operation that the guide tells to open exists under this name', () => {
  const summaries = new Set(operations.map(({ summary }) => summary));
  const named = PAGES.flatMap((page) =>
    [...read(page).matchAll(/\bopen \*\*([^*]+)\*\*/gi)].map(([, name = '']) => name),
  );
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((name) => !summaries.has(name))).toEqual([]);
});
