/** `npm run dev`: compiles a changed source into dist/ and restarts the processes that run it. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
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

/** Changes within this time count as one: an editor saves several files, or one file in several steps. */
const DEBOUNCE_MS = 100;
/** The processes need no clean shutdown; work in progress is recovered after the restart. */
const GRACE_MS = 500;
const FOLDERS = ['src', 'workflows', 'activities', 'worker', 'sandbox-bank', 'client/src'];
const SOURCE = /\.ts$/;

type Hooks = { log: (line: string) => void };

/**
 * Watches the sources until `stop`. If a source does not compile, the error is reported and the last good build runs
 * on. Type errors are reported after the change runs. `stop` waits for work in progress, which writes into dist/.
 */
export function restartOnChange(
  services: readonly Supervised[],
  { log }: Hooks,
): { stop: () => Promise<void> } {
  const changed = new Set<string>();
  let building: Promise<void> | null = null;
  let check: TypeCheck | null = null;

  async function rebuild(): Promise<void> {
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
      await check?.stop();
      check = checkTypes(log);
    }
  }

  // The bundler's first run is its slowest, so it runs at start and not with the first changed workflow.
  const firstBundle = bundle().catch((error: unknown) => log(messageOf(error)));
  let timer: NodeJS.Timeout | undefined;
  const folders = FOLDERS.filter((name) => existsSync(join(packageRoot, name)));
  const watchers = folders.map((folder) =>
    watch(join(packageRoot, folder), { recursive: true }, (_event, file) => {
      if (file === null || !SOURCE.test(file)) return;
      changed.add(join(folder, file));
      void check?.stop();
      clearTimeout(timer);
      timer = setTimeout(() => {
        building ??= rebuild().finally(() => (building = null));
      }, DEBOUNCE_MS);
    }),
  );
  return {
    async stop() {
      for (const watcher of watchers) watcher.close();
      clearTimeout(timer);
      changed.clear();
      await Promise.all([firstBundle, building]);
      await check?.stop();
    },
  };
}

async function compileAndRestart(
  services: readonly Supervised[],
  files: readonly string[],
): Promise<string[]> {
  const before = digestOfWorkflows();
  const compiledFiles = await Promise.all(files.map(compile));
  // dist/ no longer matches its stamp: the next set-up must build, even if the change is reverted.
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
      if (service.name !== 'bank' && service.name !== 'api' && digestOfWorkflows() !== before) {
        await bundle();
      }
      await service.restart(GRACE_MS);
    }),
  );
  return touched.map(({ name }) => name);
}

/** Transpiles one file without type checks, like the tests do: milliseconds instead of the compiler's seconds. */
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

/** Bundles in this process: a new process takes longer to load the bundler than to run it. */
async function bundle(): Promise<void> {
  const file = pathToFileURL(compiled('worker', 'bundle.js')).href;
  const { bundleWorkflows } = (await import(file)) as { bundleWorkflows: () => Promise<void> };
  await bundleWorkflows().catch((error: unknown) => {
    throw new Error(
      `The workflows cannot be bundled; the last good state runs on\n${messageOf(error)}`,
    );
  });
}

/** A type check that runs. `stop` ends it without a report and resolves when its process has ended. */
type TypeCheck = { stop: () => Promise<void> };

/** Reports type errors, after the change runs. */
function checkTypes(log: Hooks['log']): TypeCheck {
  const compiler = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const info = ['--incremental', '--tsBuildInfoFile', compiled('.types')];
  const args = [compiler, '-p', 'tsconfig.build.json', '--noEmit', ...info];
  const child = spawn(process.execPath, args, { cwd: packageRoot });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.once('close', (code) => {
    if (code !== 0 && !child.killed) {
      log(`the change has wrong types; it runs all the same\n${output.trim()}`);
    }
  });
  const ended = once(child, 'close');
  return {
    async stop() {
      child.kill();
      await ended;
    },
  };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Digest of all compiled files that workflows import; while it is unchanged, so is their bundle. */
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
