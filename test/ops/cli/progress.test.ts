import { createProgress, showWaiting } from '../../../src/ops/cli/progress.js';
import { eventually } from '../../support/eventually.js';

const outputTo = (lines: string[], isTTY: boolean) => ({
  isTTY,
  write: (text: string) => lines.push(text),
});

test('a person at a terminal is told that an answer is awaited; a file or a pipe gets nothing', async () => {
  const [terminal, pipe, ended]: [string[], string[], string[]] = [[], [], []];
  const position = () => Promise.resolve('7 postings');
  showWaiting(position, outputTo(ended, true), 0)();
  showWaiting(position, outputTo(pipe, false), 0)();
  const end = showWaiting(position, outputTo(terminal, true), 0);
  const [line] = await eventually('a line is written', () =>
    terminal.length ? terminal : undefined,
  );
  end();
  expect(line).toMatch(/^bursar: at work for \d+ s: 7 postings\n$/);
  expect([pipe, ended]).toEqual([[], []]);
});

test('a position that cannot be read leaves the seconds', async () => {
  const lines: string[] = [];
  const end = showWaiting(() => Promise.reject(new Error('away')), outputTo(lines, true), 0);
  await eventually('a line is written', () => (lines.length ? lines : undefined));
  end();
  expect(lines[0]).toMatch(/^bursar: at work for \d+ s\n$/);
});

test('a person at a terminal sees how far a long command is; a file or a pipe gets nothing', () => {
  const [terminal, pipe]: [string[], string[]] = [[], []];
  for (const to of [outputTo(terminal, true), outputTo(pipe, false)]) {
    const progress = createProgress('entries exported', to, 0);
    progress.at(1_000);
    progress.at(2_000);
    progress.end();
  }
  expect(terminal).toEqual(['bursar: 1000 entries exported\n', 'bursar: 2000 entries exported\n']);
  expect(pipe).toEqual([]);
});
