/** Says in one plain line, which any tool can read, how many tests ran: `12 passed, 0 failed, 0 skipped`. */
export class Counts {
  onRunComplete(_contexts, results) {
    // A file that can't even be loaded has failed, though it has no test to show.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    process.stdout.write(
      `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`,
    );
  }
}

// oxlint-disable-next-line import/no-default-export -- jest takes a reporter's default export
export default Counts;
