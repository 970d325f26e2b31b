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
