/** Stops the process once, on the first SIGTERM or SIGINT. If that fails, the process exits with 1. */
export function stopOnSignal(stop: () => Promise<void>, onError: (error: unknown) => void): void {
  let stopping = false;
  const onSignal = () => {
    if (stopping) return;
    stopping = true;
    stop().catch((error: unknown) => {
      onError(error);
      process.exitCode = 1;
    });
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
