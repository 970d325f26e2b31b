import { readRoot } from '../compose/file.js';

const [, table = ''] = readRoot('SECURITY.md').split('<!-- table: support -->');
const rows = [...table.matchAll(/^ +\| (\S+) +\| ([\d.]+) +\| (\d{4}-\d\d-\d\d) +\| `([^`]+)`/gm)];
/** The image of each program. */
const IMAGES: Record<string, string> = {
  'Node.js': 'node',
  MongoDB: 'mongo',
  PostgreSQL: 'postgres',
};

test('the table of release lines has every program with an end of support', () => {
  expect(rows.map(([, program]) => program)).toEqual(Object.keys(IMAGES));
});

test.each(rows.map(([, program, line, until, file]) => ({ program, line, until, file })))(
  'the pinned release of $program is of a line that is supported until $until',
  ({ program = '', line = '', until = '', file = '' }) => {
    const image = IMAGES[program];
    const pins = [...readRoot(file).matchAll(new RegExp(`\\b${image}:([\\d.]+)`, 'g'))];
    expect(pins.length).toBeGreaterThan(0);
    for (const [, version] of pins) expect(`${version}.`.startsWith(`${line}.`)).toBe(true);
    expect(Date.parse(until)).toBeGreaterThan(Date.now());
  },
);
