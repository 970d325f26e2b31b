// Runs two common generators of clients on openapi.json, and compiles the clients that they make: openapi-typescript (npm)
// and openapi-python-client (PyPI), each at a fixed version. Every package is compared with its hash, and runs no script when
// it is installed. A warning of a generator is a failure. Without a registry the check is skipped, and a line says so.
// Programs with these clients (generated-clients/) then make transfers at a running service (test/chaos/clients).
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPESCRIPT = 'openapi-typescript';
/** Its version and those of its packages, with the hashes of their files. */
const LOCK = 'test/client/generator';
const PYTHON = 'openapi-python-client';
/** The same for this one. */
const REQUIREMENTS = 'test/client/requirements.txt';

const PROGRAMS = 'scripts/generated-clients';
/** The programs whose client is there: their commands, which the test runs. */
const programs = [];

const inRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const document = inRoot('openapi.json');
const work = mkdtempSync(join(tmpdir(), 'client-generators-'));

/** Runs a command; returns its exit code and its whole output. */
function run(command, args, env = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: work,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}` };
}

/** Fails with the output unless the command has ended well, and without a warning where none is allowed. */
function must(what, { ok, output }, { quiet = false } = {}) {
  const warned = quiet && /\b(?:warning|error)/i.test(output);
  console.log(`${what}: ${ok && !warned ? 'passed' : `FAILED\n${output}`}`);
  if (!ok || warned) process.exitCode = 1;
}

function skipped(what, { output }) {
  console.log(
    `notice: ${what} is skipped: it could not be fetched (${output.trim().split('\n').at(-1)})`,
  );
}

function typescript() {
  for (const file of ['package.json', 'package-lock.json']) {
    copyFileSync(inRoot(`${LOCK}/${file}`), join(work, file));
  }
  const fetched = run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
  if (/EINTEGRITY/.test(fetched.output)) return must(TYPESCRIPT, fetched);
  if (!fetched.ok) return skipped(TYPESCRIPT, fetched);
  const program = join(work, 'node_modules', TYPESCRIPT, 'bin', 'cli.js');
  must(TYPESCRIPT, run(process.execPath, [program, document, '-o', 'api.ts']), { quiet: true });
  const tsc = inRoot('node_modules/typescript/bin/tsc');
  copyFileSync(inRoot(`${PROGRAMS}/transfer.mts`), join(work, 'transfer.mts'));
  const strict = ['--strict', '--skipLibCheck', '--types', '', '--module', 'nodenext'];
  const compiled = run(process.execPath, [tsc, ...strict, '--target', 'es2023', 'transfer.mts']);
  must('its client compiles', compiled);
  const args = [join(work, 'transfer.mjs')];
  if (compiled.ok) programs.push({ name: TYPESCRIPT, command: process.execPath, args, env: {} });
}

function python() {
  const packages = join(work, 'packages');
  const checked = ['--require-hashes', '--only-binary=:all:', '-r', inRoot(REQUIREMENTS)];
  const pip = ['-m', 'pip', 'install', '--quiet', '--target', packages, ...checked];
  const fetched = run('python3', pip, {
    // A user's pip settings may conflict with --target.
    PIP_USER: '0',
    PIP_REQUIRE_VIRTUALENV: '0',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_ROOT_USER_ACTION: 'ignore',
    PIP_NO_INPUT: '1',
  });
  // A file that differs from its hash is no registry that is away.
  if (/\bhash/i.test(fetched.output)) return must(PYTHON, fetched);
  if (!fetched.ok) return skipped(PYTHON, fetched);
  // The generator formats its client with ruff, which it finds on the path.
  const env = { PYTHONPATH: packages, PATH: `${join(packages, 'bin')}:${process.env.PATH}` };
  const args = ['generate', '--path', document, '--output-path', 'client', '--fail-on-warning'];
  must(PYTHON, run('python3', ['-m', 'openapi_python_client', ...args], env), { quiet: true });
  const compiled = run('python3', ['-m', 'compileall', '-q', 'client'], env);
  must('its client compiles', compiled);
  const paths = { PYTHONPATH: `${packages}:${join(work, 'client')}` };
  const program = [inRoot(`${PROGRAMS}/transfer.py`)];
  if (compiled.ok) programs.push({ name: PYTHON, command: 'python3', args: program, env: paths });
}

/** Runs the programs, each with a tenant of its own. */
function makeTransfers() {
  if (programs.length === 0) return;
  const jest = [inRoot('scripts/jest.mjs'), '--config', 'jest.chaos.config.js', 'chaos/clients/'];
  const { status } = spawnSync(process.execPath, jest, {
    cwd: inRoot('.'),
    stdio: 'inherit',
    env: { ...process.env, BURSAR_GENERATED_CLIENTS: JSON.stringify(programs) },
  });
  if (status !== 0) process.exitCode = 1;
}

try {
  typescript();
  python();
  makeTransfers();
} finally {
  rmSync(work, { recursive: true, force: true });
}
