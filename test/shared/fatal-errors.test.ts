import { spawnSync } from 'node:child_process';
import { compiled } from '../../src/shared/package-root.js';

const FAILURE = `Object.assign(new Error('not written: { account: "0123456789" }'), {
  errInfo: { recipient: 'ADAEZE OBI' },
})`;

test.each([
  [
    'a promise that nobody waits for',
    `void Promise.reject(${FAILURE}); setInterval(() => {}, 1_000);`,
  ],
  ['the start', `await Promise.reject(${FAILURE});`],
  ['a timer', `setTimeout(() => { throw ${FAILURE}; });`],
])('an uncaught exception is one masked log line, and the exit code is 1: %s', (_, code) => {
  const script = `import { logFatalErrors } from ${JSON.stringify(compiled('src', 'shared', 'fatal-errors.js'))};
    logFatalErrors('api');
    ${code}`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script],
    { encoding: 'utf8' },
  );
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    level: 'fatal',
    name: 'api',
    err: { message: 'not written: { account: "[digits]" }' },
  });
  expect(stdout + stderr).not.toMatch(/0123456789|ADAEZE/);
});

test.each([
  ['the API', compiled('src', 'main.js')],
  ['the worker', compiled('worker', 'main.js')],
  ['both in one process', compiled('worker', 'all-in-one.js')],
])('a start without its settings names them in plain text, without a stack: %s', (_, program) => {
  const env = { PATH: process.env['PATH'], PORT: '', BURSAR_TASK_QUEUE: '' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    encoding: 'utf8',
    env,
  });
  expect(status).toBe(1);
  expect(stdout).toBe('');
  expect(stderr.split('\n')).toEqual([
    'bursar: The environment variables are not valid:',
    '  MONGODB_URI: is not set, and has no default',
    '  BURSAR_KEY_PEPPER: is not set, and has no default',
    '  BURSAR_SEALING_KEYS: is not set, and has no default',
    'docs/settings.md has the meaning of each.',
    '',
  ]);
});
