import {
  createTemporaryFolder,
  removeAbandonedFolders,
  type TemporaryFolder,
} from './temporary-folder.js';

const PARENT_CHECK_MS = 500;

/** Tells people what happens: standard output is for the settings alone. */
export const say = (line: string): void => console.error(`bursar: ${line}`);

/**
 * Runs engines in a temporary folder until a signal comes or the parent has died, then stops them and exits. If `main` fails, it
 * prints why and exits with 1.
 */
export async function runUntilStopped(
  main: (folder: TemporaryFolder) => Promise<void>,
): Promise<void> {
  const folder = createTemporaryFolder();
  let stopping = false;

  async function stop(exitCode: number): Promise<void> {
    if (stopping) return;
    stopping = true;
    await folder.remove();
    process.exit(exitCode);
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void stop(0));
  }
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) void stop(0);
  }, PARENT_CHECK_MS);

  try {
    await removeAbandonedFolders();
    await main(folder);
  } catch (error) {
    if (stopping) return;
    console.error(`\nbursar: ${error instanceof Error ? error.message : String(error)}\n`);
    await stop(1);
  }
}
