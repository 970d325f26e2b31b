import { relative } from 'node:path';

/** Says at the end what failed, and in one plain line, which any tool can read, how many tests ran. */
export class Counts {
  onRunComplete(_contexts, results) {
    // A file that can't even be loaded has failed, though it has no test to show.
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
