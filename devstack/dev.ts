/** `npm run dev`: a changed source is compiled into dist/, and what runs from there is started again. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compiled, packageRoot } from '../src/shared/package-root.js';
import type { Supervised } from './supervise.js';

/** An editor that saves several files, or a file in several steps, makes one change. */
const SETTLE_MS = 100;
/** What is under way is left to the next life: no code here depends on an end in good order. */
const GRACE_MS = 500;
const FOLDERS = ['src', 'workflows', 'activities', 'worker', 'sandbox-bank', 'client/src'];
const SOURCE = /\.ts$/;

type Hooks = { log: (line: string) => void };

/**
 * Until the process ends. A source that does not compile is reported, and the last good state goes on; wrong types are
 * reported after the change runs.
 */
export function restartOnChange(services: readonly Supervised[], { log }: Hooks): void {
  const changed = new Set<string>();
  let building = false;
  let check: AbortController | null = null;

  async function rebuild(): Promise<void> {
    if (building) return;
    building = true;
    while (changed.size > 0) {
      const files = [...changed];
      changed.clear();
      const began = Date.now();
      try {
        const names = await compileAndRestart(services, files);
        const seconds = ((Date.now() - began) / 1_000).toFixed(1);
        log(`${files.join(', ')} changed: started ${names.join(' and ')} again after ${seconds} s`);
      } catch (error) {
        log(messageOf(error));
        continue;
      }
      check?.abort();
      check = new AbortController();
      const { signal } = check;
      void checkTypes(signal).catch((error: unknown) => signal.aborted || log(messageOf(error)));
    }
    building = false;
  }

  // The first run of the bundler is its slowest. It runs at start, so that the first changed workflow does not wait for it.
  void bundle().catch((error: unknown) => log(messageOf(error)));
  let timer: NodeJS.Timeout | undefined;
  for (const folder of FOLDERS.filter((name) => existsSync(join(packageRoot, name)))) {
    watch(join(packageRoot, folder), { recursive: true }, (_event, file) => {
      if (file === null || !SOURCE.test(file)) return;
      changed.add(join(folder, file));
      check?.abort();
      clearTimeout(timer);
      timer = setTimeout(() => void rebuild(), SETTLE_MS);
    });
  }
}

async function compileAndRestart(
  services: readonly Supervised[],
  files: readonly string[],
): Promise<string[]> {
  const before = digestOfWorkflows();
  const compiledFiles = await Promise.all(files.map(compile));
  // From here on dist/ is not what set-up built: it has to build anew, also if the change is taken back.
  rmSync(compiled('.built-from'), { force: true });
  for (const { target, code } of compiledFiles) {
    if (code === null) rmSync(target, { force: true });
    else writeWhole(target, code);
  }
  const touched = services.filter(
    ({ name }) => name !== 'bank' || files.some((file) => file.includes('sandbox-bank')),
  );
  await Promise.all(
    touched.map(async (service) => {
      if (service.name === 'worker' && digestOfWorkflows() !== before) {
        await bundle();
      }
      await service.restart(GRACE_MS);
    }),
  );
  return touched.map(({ name }) => name);
}

/** One file without its types, as the tests compile it: in milliseconds, where the compiler needs seconds. */
async function compile(file: string): Promise<{ target: string; code: string | null }> {
  const source = join(packageRoot, file);
  const target = compiled(file.replace(SOURCE, '.js'));
  if (!existsSync(source)) return { target, code: null };
  const { transformFile } = await import('@swc/core');
  const { code } = await transformFile(source, {
    swcrc: false,
    jsc: {
      parser: { syntax: 'typescript' },
      target: 'es2022',
      transform: { verbatimModuleSyntax: true },
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  }).catch((error: unknown) => {
    throw new Error(`${file} does not compile; the last good state runs on\n${messageOf(error)}`);
  });
  return { target, code };
}

function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.next`, text);
  renameSync(`${file}.next`, file);
}

/** Bundles in this process: a new process needs longer to load the bundler than the bundler needs. */
async function bundle(): Promise<void> {
  const file = pathToFileURL(compiled('worker', 'bundle.js')).href;
  const { bundleWorkflows } = (await import(file)) as { bundleWorkflows: () => Promise<void> };
  await bundleWorkflows().catch((error: unknown) => {
    throw new Error(
      `The workflows cannot be bundled; the last good state runs on\n${messageOf(error)}`,
    );
  });
}

/** Reports what the compiler finds wrong, after the change runs. */
function checkTypes(signal: AbortSignal): Promise<void> {
  const compiler = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const info = ['--incremental', '--tsBuildInfoFile', compiled('.types')];
  const args = [compiler, '-p', 'tsconfig.build.json', '--noEmit', ...info];
  return run('the types are wrong', args, signal);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Of all compiled files that the workflows import: as long as it is the same, so is their bundle. */
function digestOfWorkflows(): string {
  const hash = createHash('sha256');
  const seen = new Set<string>();
  const queue = [compiled('workflows', 'index.js'), compiled('workflows', 'payload-converter.js')];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file) || !existsSync(file)) continue;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    hash.update(file).update(text);
    for (const [, specifier = ''] of text.matchAll(/ from '(\.[^']+)'/g)) {
      queue.push(join(dirname(file), specifier));
    }
  }
  return hash.digest('hex');
}

/** Runs a part of the build; fails with what it printed. */
function run(failure: string, args: string[], signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: packageRoot, signal });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else
        reject(new Error(`the change ${failure}; the last good state runs on\n${output.trim()}`));
    });
  });
}
