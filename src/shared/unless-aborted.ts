/** The awaited result, or `aborted` if the caller gives up before. */
export async function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal) {
  if (signal.aborted) return 'aborted';
  const over = new AbortController();
  const aborted = new Promise<'aborted'>((end) => {
    const options = { once: true, signal: over.signal };
    signal.addEventListener('abort', () => end('aborted'), options);
  });
  return Promise.race([result, aborted]).finally(() => over.abort());
}
