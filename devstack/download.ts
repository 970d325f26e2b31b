/**
 * Downloads Temporal from its publisher, as a process of its own: `download.js <version> <folder>`. Prints the program's path as its last line. official-downloads.ts supervises and ends it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';

/** The SDK's downloader is only available as the first half of starting a server, so this starts one. */
async function downloadTemporal(version: string, folder: string): Promise<string> {
  const file = join(folder, `temporal-${version}`);
  try {
    const environment = await TestWorkflowEnvironment.createLocal({
      server: {
        executable: { type: 'cached-download', version, downloadDir: folder, ttl: '10 years' },
      },
    });
    await environment.teardown();
  } catch (error) {
    // The caller probes the downloaded program and reports its errors better than this process could.
    if (!existsSync(file)) throw error;
  }
  return file;
}

const [version = '', folder = ''] = process.argv.slice(2);
try {
  console.log(await downloadTemporal(version, folder));
  process.exit(0);
} catch (error) {
  const causes: string[] = [];
  for (let e: unknown = error; e instanceof Error; e = e.cause) causes.push(e.message);
  console.error(causes.join(': ').replaceAll(/\s+/g, ' ').slice(0, 400));
  process.exit(1);
}
