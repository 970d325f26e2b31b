import { PassThrough } from 'node:stream';
import { confirm } from '../../../src/ops/cli/confirm.js';

const PEOPLE = { json: false };

/** A terminal at which this is typed, and what it was asked; `undefined` ends the input. */
function terminal(typed: string | undefined, isTTY = true) {
  const input = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.ReadStream;
  const output = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream;
  let shown = '';
  output.on('data', (text: Buffer) => (shown += text.toString()));
  if (typed === undefined) (input as unknown as PassThrough).end();
  else (input as unknown as PassThrough).write(`${typed}\n`);
  return { streams: { input, output }, asked: () => shown.includes('Really?') };
}

test.each(['y', 'yes', ' Y '])('%j goes on', async (typed) => {
  const { streams, asked } = terminal(typed);
  await confirm('Really?', PEOPLE, streams);
  expect(asked()).toBe(true);
});

test.each(['', 'n', 'yesterday', undefined])('%j does nothing', async (typed) => {
  const { streams } = terminal(typed);
  await expect(confirm('Really?', PEOPLE, streams)).rejects.toThrow('nothing was done');
});

test.each([
  ['--json', { json: true }, true],
  ['--yes', { json: false, yes: true }, true],
  ['no terminal', PEOPLE, false],
])('programs are not asked: %s', async (_which, how, isTTY) => {
  const { streams, asked } = terminal('n', isTTY);
  await confirm('Really?', how, streams);
  expect(asked()).toBe(false);
});
