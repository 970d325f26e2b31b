import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const here = dirname(fileURLToPath(import.meta.url));

/** Where `npm run build` leaves the bundle, and where the worker looks for it. */
export const BUNDLE_PATH = join(here, '..', 'workflow-bundle.js');

/** Bundles the compiled workflows once, so that a worker is up within a second and every worker runs the same code. */
async function main(): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(here, '..', 'workflows', 'index.js'),
    // Compiled in: workers that load the bundle need no further setting.
    payloadConverterPath: join(here, '..', 'workflows', 'payload-converter.js'),
    logger: {
      log() {},
      trace() {},
      debug() {},
      info() {},
      warn: console.warn,
      error: console.error,
    },
  });
  const temporary = `${BUNDLE_PATH}.${process.pid}`;
  await mkdir(dirname(BUNDLE_PATH), { recursive: true });
  await writeFile(temporary, code);
  await rename(temporary, BUNDLE_PATH);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
