// npm run test:engines -- <arguments of jest>: the end-to-end tests against a Temporal server on PostgreSQL with many history
// shards and mutual TLS, and a MongoDB with TLS, certificates of clients and users. It needs Go, PostgreSQL and openssl, and
// fails with a line that names what is missing.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const inRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const engines = spawn(process.execPath, [inRoot('dist/devstack/secured/stack.js')], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const gone = new Promise((resolve) => engines.once('exit', resolve));
const line = new Promise((resolve) =>
  createInterface({ input: engines.stdout }).once('line', resolve),
);
const settings = await Promise.race([line, gone.then(() => null)]);
if (settings === null) process.exit(1);

const args = ['--config', 'jest.engines.config.js', ...process.argv.slice(2)];
const tests = spawn(process.execPath, [inRoot('scripts/jest.mjs'), ...args], {
  cwd: inRoot('.'),
  env: { ...process.env, ...JSON.parse(settings) },
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => tests.kill(signal));
const code = await new Promise((resolve) => tests.once('exit', resolve));
engines.kill('SIGTERM');
await gone;
process.exit(code ?? 1);
