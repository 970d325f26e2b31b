import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const here = dirname(fileURLToPath(import.meta.url));

/** Path of the workflow bundle: `npm run build` writes it, the worker loads it. */
export const BUNDLE_PATH = join(here, '..', 'workflow-bundle.js');

/** Bundles the compiled workflows at build time, so that workers start within a second and run the same code. */
export async function bundleWorkflows(): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(here, '..', 'workflows', 'index.js'),
    // Part of the bundle, so that workers need no further setting.
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

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleWorkflows();
