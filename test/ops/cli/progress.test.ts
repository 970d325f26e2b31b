import { showWaiting } from '../../../src/ops/cli/progress.js';
import { eventually } from '../../support/eventually.js';

test('a person at a terminal is told that an answer is awaited; a file or a pipe gets nothing', async () => {
  const [terminal, pipe, ended]: string[][] = [[], [], []];
  const to = (lines: string[] | undefined, isTTY: boolean) => ({
    isTTY,
    write: (text: string) => lines?.push(text),
  });
  showWaiting(to(ended, true), 0)();
  showWaiting(to(pipe, false), 0)();
  const end = showWaiting(to(terminal, true), 0);
  const [line] = await eventually('a line is written', () =>
    terminal?.length ? terminal : undefined,
  );
  end();
  expect(line).toMatch(/^bursar: at work for \d+ s\n$/);
  expect([pipe, ended]).toEqual([[], []]);
});
