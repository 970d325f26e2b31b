import { readRoot } from '../compose/file.js';

const [, table = ''] = readRoot('SECURITY.md').split('<!-- table: support -->');
const ROW =
  /^ +\| (\S+(?: \S+)*) +\| ([\d.]+) +\| (\d{4}-\d\d-\d\d) +\| ([\d.]+|–) +\| `([^`]+)`/gm;
const rows = [...table.matchAll(ROW)];
/** The text before the version of each program in the names of images. */
const IMAGES: Record<string, string> = {
  'Node.js': 'node:',
  MongoDB: 'mongo:',
  PostgreSQL: 'postgres:',
  'Alpine Linux': 'alpine',
};

const isAtLeast = (version: string, least: string) =>
  version.localeCompare(least, 'en', { numeric: true }) >= 0;

test('the table of release lines has every program with an end of support', () => {
  expect(rows.map(([, program]) => program)).toEqual(Object.keys(IMAGES));
});

test.each(
  rows.map(([, program, line, until, least, file]) => ({ program, line, until, least, file })),
)(
  'the pinned release of $program is of a line that is supported until $until, and not below $least',
  ({ program = '', line = '', until = '', least = '', file = '' }) => {
    const pattern = new RegExp(`^ *(?:FROM|image:) .*\\b${IMAGES[program]}([\\d.]+)`, 'gm');
    const pins = [...readRoot(file).matchAll(pattern)];
    expect(pins.length).toBeGreaterThan(0);
    for (const [, version = ''] of pins) {
      expect(`${version}.`.startsWith(`${line}.`)).toBe(true);
      expect([version, least === '–' || isAtLeast(version, least)]).toEqual([version, true]);
    }
    expect(Date.parse(until)).toBeGreaterThan(Date.now());
  },
);

test('a patch is compared by its numbers', () => {
  expect([isAtLeast('8.0.9', '8.0.24'), isAtLeast('8.0.24', '8.0.24')]).toEqual([false, true]);
  expect(isAtLeast('8.0.100', '8.0.24')).toBe(true);
});
