import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { operations as table } from '../../../client/src/api.js';
import { compiled, packageRoot } from '../../../src/shared/package-root.js';
import type { Operation } from '../../../src/platform/http/operation.js';
import { clientApi, operations } from '../../../src/composition/operations.js';
import { startService, type Service } from '../../support/service.js';
import type { TestTenant } from '../../support/tenant.js';
import { failed } from '../../client/types.js';

const inRoot = (...parts: string[]) => join(packageRoot, ...parts);

type Ran = { code: number; out: string; err: string };

const run = (args: string[], options: { cwd?: string; env?: Record<string, string> } = {}) =>
  new Promise<Ran>((resolve) => {
    const env = { PATH: String(process.env['PATH']), ...options.env };
    execFile(process.execPath, args, { ...options, env }, (error, out, err) =>
      resolve({ code: error ? 1 : 0, out, err }),
    );
  });

describe('the generated client', () => {
  test('the generated client equals the committed one (npm run openapi)', async () => {
    const kept = inRoot('client', 'src', 'api.ts');
    const style = { ...(await resolveConfig(kept)), parser: 'typescript' };
    expect(readFileSync(kept, 'utf8')).toBe(await format(clientApi(), style));
  });

  test('the client has every operation except those of providers, with named types', () => {
    const own = Object.values<Operation>(operations).filter(({ access }) => access !== 'provider');
    expect(Object.keys(table).toSorted()).toEqual(own.map(({ id }) => id).toSorted());
    const made = readFileSync(inRoot('client', 'src', 'api.ts'), 'utf8');
    const index = readFileSync(inRoot('client', 'src', 'index.ts'), 'utf8');
    for (const [, name] of made.matchAll(/^export type (\w+)/gm)) {
      expect(index).toMatch(new RegExp(`^  ${name},$`, 'm'));
    }
    // The compiler checks the types: see types.ts.
    expect(failed).toEqual({});
  });
});

describe('the client package', () => {
  let service: Service;
  let tenant: TestTenant;
  let folder: string;

  beforeAll(async () => {
    service = await startService();
    tenant = await service.tenant();
    folder = mkdtempSync(join(tmpdir(), 'bursar-client-'));
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await service?.close();
  });

  const tsc = (...args: string[]) =>
    run([inRoot('node_modules', 'typescript', 'bin', 'tsc'), ...args], { cwd: folder });

  /** A separate project with the package as npm would unpack it, and Node's types. */
  async function newProject(): Promise<void> {
    const modules = join(folder, 'node_modules');
    const unpacked = join(modules, '@bursar', 'client');
    const built = await tsc('-p', inRoot('client'), '--outDir', join(unpacked, 'dist'));
    expect(built).toMatchObject({ code: 0 });
    cpSync(inRoot('client', 'package.json'), join(unpacked, 'package.json'));
    for (const types of ['@types', 'undici-types']) {
      symlinkSync(inRoot('node_modules', types), join(modules, types));
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const options = { module: 'nodenext', target: 'es2022', strict: true, types: ['node'] };
    const compilerOptions = { ...options, lib: ['es2022'], skipLibCheck: false };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  }

  test('the examples of the client README compile and run in a separate project', async () => {
    await newProject();
    const readme = readFileSync(inRoot('client', 'README.md'), 'utf8');
    const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => String(code));
    expect(examples).toHaveLength(2);
    for (const [i, code] of examples.entries()) {
      writeFileSync(join(folder, `example-${i}.ts`), code);
    }
    expect(await tsc()).toEqual({ code: 0, out: '', err: '' });
    const env = { BURSAR_API_URL: service.api.url, BURSAR_API_KEY: tenant.key };
    const first = await run([join(folder, 'example-0.js')], { env });
    expect(first).toMatchObject({ code: 0, err: '' });
    const { data: listed } = await tenant.client.listTransfers();
    expect(first.out).toMatch(/^completed [0-9]{30} false\n/);
    expect(first.out).toContain(`${listed[0]?.id} 250000`);
    const again = await run([join(folder, 'example-0.js')], { env });
    expect(again.out).toMatch(/^completed [0-9]{30} true\n/);
  });

  test('wrong uses of the client do not compile', async () => {
    const lines = [
      `import { createClient, verifyWebhook } from '@bursar/client';`,
      `const bursar = createClient({ baseUrl: '', key: '' });`,
      `// @ts-expect-error half a recipient`,
      `await bursar.createTransfer({ amount_minor: 1, narration: '', recipient_account: '' });`,
      `// @ts-expect-error no such status`,
      `await bursar.listTransfers({ status: 'done' });`,
      `// @ts-expect-error takes no key`,
      `await bursar.getTransfer({ id: '' }, { idempotencyKey: '' });`,
      `// @ts-expect-error no list`,
      `bursar.getTransfer.all;`,
      `// @ts-expect-error an id is needed`,
      `await bursar.getTransfer();`,
      `const event = await verifyWebhook('', {}, '');`,
      `// @ts-expect-error no such event`,
      `event.event === 'transfer.done';`,
      // A card may pay in another currency, and an identity check has none; a transfer is in naira.
      `const all: string = 'currency' in event.data ? event.data.currency : '';`,
      `if (event.event === 'transfer.completed') event.data.currency satisfies 'NGN';`,
    ];
    writeFileSync(join(folder, 'mistakes.ts'), lines.join('\n'));
    expect(await tsc('--noEmit')).toEqual({ code: 0, out: '', err: '' });
  });

  describe('bursar transfers create', () => {
    const money = ['--bank', '058', '--amount-minor', '150000', '--narration', 'Rent for May'];
    const bursar = (args: string[], env: Record<string, string>) =>
      run([compiled('src', 'ops', 'cli', 'main.js'), 'transfers', 'create', ...args], { env });
    const sendTo = (account: string, args: string[] = [], env = environment()) =>
      bursar(['--to', account, ...money, ...args], env);
    const environment = () => ({ BURSAR_API_URL: service.api.url, BURSAR_API_KEY: tenant.key });

    test('bursar transfers create uses the address and key of its options, the environment or dev.json', async () => {
      const sent = await sendTo('0123456789', ['--wait', '20', '--reference', 'r-1', '--json']);
      expect(sent).toMatchObject({ code: 0, err: '' });
      expect(JSON.parse(sent.out)).toMatchObject({ status: 'completed', reference: 'r-1' });

      const key = { BURSAR_API_KEY: tenant.key } as never;
      const at = ['--api', service.api.url];
      expect((await sendTo('0123456789', at, key)).out).toMatch(/status +pending/);

      const dev = { api_url: service.api.url, keys: { secret: tenant.key } };
      writeFileSync(join(folder, 'dev.json'), JSON.stringify(dev));
      const home = { BURSAR_HOME: folder } as never;
      expect(await sendTo('0123456789', [], home)).toMatchObject({ code: 0 });
      // The key of dev.json is only used for the API of dev.json.
      const elsewhere = await sendTo('0123456789', ['--api', 'http://127.0.0.1:9'], home);
      expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining('no key') });
    });

    test('bursar transfers create exits with 1 and the reason if the transfer is refused or fails, or the API does not answer', async () => {
      const failed = await sendTo('0123456002', ['--wait', '20', '--json']);
      expect(failed.code).toBe(1);
      expect(JSON.parse(failed.out)).toMatchObject({ failure: { code: 'account_closed' } });
      expect(await sendTo('0123456003')).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining('invalid_account'),
      });
      expect((await sendTo('12')).err).toContain('(recipient_account)');
      const dead = `http://127.0.0.1:${await service.deadPort()}`;
      const unknown = await sendTo('0123456789', ['--idempotency-key', 'mine', '--api', dead]);
      expect(unknown).toMatchObject({
        code: 1,
        err: expect.stringContaining('--idempotency-key mine'),
      });
      for (const { out, err } of [failed, unknown]) expect(out + err).not.toContain(tenant.key);
    });
  });
});
