import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as Record<
  'dependencies' | 'devDependencies' | 'overrides',
  Record<string, string>
>;
const [, production = '', development = '', overrides = ''] =
  read('docs/dependencies.md').split(/^## .*$/m);

/** The first two cells of each row: a package and its version. */
const rowsOf = (section: string) =>
  Object.fromEntries(
    [...section.matchAll(/^\| `([^`]+)` +\| `?([^`| ]+)`? /gm)].map(
      ([, name = '', version = '']) => [name, version],
    ),
  );

const pinned = (versions: Record<string, string>) =>
  Object.fromEntries(Object.entries(versions).filter(([, version]) => !version.startsWith('^')));

test('every pin has a row with its version and a reason, and every row has its pin', () => {
  expect(rowsOf(production)).toEqual(pinned(manifest.dependencies));
  expect(rowsOf(development)).toEqual(pinned(manifest.devDependencies));
});

test('every override has a row with its version and a reason, and every row has its override', () => {
  expect(rowsOf(overrides)).toEqual(manifest.overrides);
});

test('each row gives a reason and a condition', () => {
  const rows = [production, development, overrides].join('').match(/^\| `.*\|$/gm) ?? [];
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) {
    const cells = row.split('|').map((cell) => cell.trim());
    expect({ row, complete: cells.slice(1, 5).every((cell) => cell.length > 2) }).toEqual({
      row,
      complete: true,
    });
  }
});
