import { readFileSync } from 'node:fs';
import { migrations } from '../../src/composition/migrations.js';
import { wantedOf } from '../../src/platform/database/migrations.js';

const guide = readFileSync('docs/operating/backup-and-archive.md', 'utf8');
const [, section = ''] = guide.split('\n## Retention and archive\n');
const rows = section
  .split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', , removedBy = '']) => ({ name: name.replaceAll('`', ''), removedBy }));

test('the operating guide has the retention of every collection, and names those that MongoDB removes', () => {
  const wanted = wantedOf(migrations).map(([{ name, indexes }]) => ({
    name,
    expires: indexes.some(({ expireAfterSeconds }) => expireAfterSeconds !== undefined),
  }));
  const documented = rows?.map(({ name, removedBy }) => ({ name, expires: removedBy === 'TTL' }));
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  expect(documented?.toSorted(byName)).toEqual(wanted.toSorted(byName));
});
