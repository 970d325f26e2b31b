import { PassThrough } from 'node:stream';
import { confirm } from '../../../src/ops/cli/confirm.js';

const PEOPLE = { json: false };

/** A terminal with this input, and a way to see the question; `undefined` ends the input. */
function terminal(typed: string | undefined, isTTY = true) {
  const input = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.ReadStream;
  const output = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream;
  let shown = '';
  output.on('data', (text: Buffer) => (shown += text.toString()));
  if (typed === undefined) (input as unknown as PassThrough).end();
  else (input as unknown as PassThrough).write(`${typed}\n`);
  return { streams: { input, output }, isPrompted: () => shown.includes('Really?') };
}

test.each(['y', 'yes', ' Y '])('the answer %j confirms', async (typed) => {
  const { streams, isPrompted } = terminal(typed);
  await confirm('Really?', PEOPLE, streams);
  expect(isPrompted()).toBe(true);
});

test.each(['', 'n', 'yesterday', undefined])('the answer %j does not confirm', async (typed) => {
  const { streams } = terminal(typed);
  await expect(confirm('Really?', PEOPLE, streams)).rejects.toThrow('nothing was done');
});

test.each([
  ['--json', { json: true }, true],
  ['--yes', { json: false, yes: true }, true],
  ['no terminal', PEOPLE, false],
])('programs are not asked for confirmation: %s', async (_which, how, isTTY) => {
  const { streams, isPrompted } = terminal('n', isTTY);
  await confirm('Really?', how, streams);
  expect(isPrompted()).toBe(false);
});
