import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../../devstack/support.js';
import { eventually } from '../../support/eventually.js';

const TIME_LIMIT_MS = 180_000;

const root = join(import.meta.dirname, '..', '..', '..');
let dev: ChildProcess | null = null;
afterAll(async () => {
  if (dev === null || dev.exitCode !== null) return;
  dev.kill('SIGTERM');
  await once(dev, 'exit');
}, TIME_LIMIT_MS);
const clone = realpathSync(temporaryFolder());
const home = join(clone, '.bursar');

const LEFT_OUT = new Set(['.git', '.bursar', 'node_modules', 'chaos-failures']);

type DevFile = { api_url: string; pids: { api: number; worker: number } };
const devFile = () => JSON.parse(readFileSync(join(home, 'dev.json'), 'utf8')) as DevFile;

function edit(file: string, change: (text: string) => string): void {
  const path = join(clone, file);
  const text = readFileSync(path, 'utf8');
  expect({ file, changed: change(text) !== text }).toEqual({ file, changed: true });
  writeFileSync(path, change(text));
}

/** The message of a 404, which occurs once in the source. */
async function servedMessage(): Promise<string | undefined> {
  const answer = await fetch(`${devFile().api_url}/api/v1/nowhere`).catch(() => null);
  const body = (await answer?.json()) as { error: { message: string } } | undefined;
  return body?.error.message;
}

/** The only source file that has this text. */
function sourceWith(text: string): string {
  const files = readdirSync(join(clone, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join('src', file))
    .filter((file) => readFileSync(join(clone, file), 'utf8').includes(text));
  expect(files).toHaveLength(1);
  return files[0] ?? '';
}

test(
  'npm run dev serves a changed message, bundles a changed workflow, and keeps the last good state after an error',
  async () => {
    for (const name of readdirSync(root).filter((each) => !LEFT_OUT.has(each))) {
      cpSync(join(root, name), join(clone, name), { recursive: true });
    }
    symlinkSync(realpathSync(join(root, 'node_modules')), join(clone, 'node_modules'));
    const child = spawn(process.execPath, [join(clone, 'scripts', 'start.mjs'), '--dev'], {
      cwd: clone,
      env: { ...process.env, BURSAR_HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    dev = child;
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    while (!printed.includes('starts API and worker again')) {
      if (child.exitCode !== null) throw new Error(printed);
      await sleep(100);
    }
    const before = devFile().pids;

    const old = await servedMessage();
    const source = sourceWith(`'${old}'`);
    edit(source, (text) => text.replace(`'${old}'`, "'Nothing is here.'"));
    await eventually('the new message is served', async () =>
      (await servedMessage()) === 'Nothing is here.' ? true : undefined,
    );
    await eventually('both have been started again', async () =>
      /changed: started .*worker and api again/.test(printed) ? true : undefined,
    );
    expect(devFile().pids.worker).not.toBe(before.worker);
    expect(devFile().pids.api).not.toBe(before.api);

    edit(source, (text) => `${text}\nexport const broken: = 'no type';\n`);
    await eventually('the error is reported', () =>
      printed.includes('does not compile; the last good state runs on') ? true : undefined,
    );
    expect(await servedMessage()).toBe('Nothing is here.');
    edit(source, (text) => text.replace('broken: =', 'broken: number ='));
    await eventually('the wrong type is reported', () =>
      printed.includes('error TS2322') ? true : undefined,
    );
    edit(source, (text) => text.replace(/\nexport const broken.*\n$/, ''));

    const bundle = join(clone, 'dist', 'workflow-bundle.js');
    const { worker } = devFile().pids;
    edit('workflows/index.ts', (text) => `${text}\nexport const changedByTheTest = 'yes';\n`);
    await eventually('the bundle has the change, and a new worker', async () =>
      readFileSync(bundle, 'utf8').includes('changedByTheTest') && devFile().pids.worker !== worker
        ? true
        : undefined,
    );

    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    console.log(printed.match(/changed: started.*/g)?.join('\n'));
  },
  TIME_LIMIT_MS,
);
