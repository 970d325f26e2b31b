import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Long enough for an assertion's expected and received values. */
const CAUSE_LENGTH = 400;

/** The message and the place in the test file, in one line: CI keeps little more than the last lines of a run. */
function causeOf({ failureMessages = [] }) {
  const lines = stripVTControlCharacters(failureMessages[0] ?? '').split('\n');
  const frame = lines.findIndex((line) => /^\s+at /.test(line));
  const message = (frame === -1 ? lines : lines.slice(0, frame)).join(' ').replace(/\s+/g, ' ');
  const place = lines
    .find((line) => /^\s+at .*\.test\.ts:\d+/.test(line))
    ?.match(/[\w.-]+:\d+:\d+/);
  return `${message.trim().slice(0, CAUSE_LENGTH)}${place ? ` (${place[0]})` : ''}`;
}

/** A jest reporter that lists failed tests at the end, and prints the counts in one line that any tool can parse. */
export class Counts {
  onRunComplete(_contexts, results) {
    // A file that cannot be loaded counts as failed, although it has no test.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    for (const { testFilePath, testResults, testExecError } of results.testResults) {
      const file = relative(process.cwd(), testFilePath);
      const print = (text) => process.stdout.write(`failed: ${file}: ${text}\n`);
      for (const test of testResults.filter(({ status }) => status === 'failed'))
        print(`${test.fullName} — ${causeOf(test)}`);
      // The file cannot be loaded, or the error belongs to none of its tests: `afterAll`, an unhandled rejection.
      if (testExecError) {
        const { message, stack } = testExecError;
        print(`outside its tests — ${causeOf({ failureMessages: [stack ?? message] })}`);
      }
    }
    process.stdout.write(
      `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`,
    );
  }
}

// oxlint-disable-next-line import/no-default-export -- jest takes a reporter's default export
export default Counts;
