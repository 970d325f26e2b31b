/** Stops the engines that global-setup.ts started, and waits until they are gone. */
async function globalTeardown(): Promise<void> {
  const host = globalThis.bursarTestEngines;
  if (host === undefined || host.exitCode !== null || host.signalCode !== null) return;
  await new Promise((resolve) => {
    host.once('exit', resolve);
    host.kill('SIGTERM');
  });
}

// oxlint-disable-next-line import/no-default-export -- jest calls the default export
export default globalTeardown;
