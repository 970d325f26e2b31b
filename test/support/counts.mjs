import { relative } from 'node:path';

/** A jest reporter that lists failed tests at the end, and prints the counts in one line that any tool can parse. */
export class Counts {
  onRunComplete(_contexts, results) {
    // A file that cannot be loaded counts as failed, although it has no test.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    for (const { testFilePath, testResults, testExecError } of results.testResults) {
      const file = relative(process.cwd(), testFilePath);
      const names = testResults.flatMap((test) =>
        test.status === 'failed' ? [test.fullName] : [],
      );
      if (testExecError) names.push('could not be run');
      for (const name of names) process.stdout.write(`failed: ${file}: ${name}\n`);
    }
    process.stdout.write(
      `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`,
    );
  }
}

// oxlint-disable-next-line import/no-default-export -- jest takes a reporter's default export
export default Counts;
