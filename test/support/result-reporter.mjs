import { readFileSync, writeFileSync } from 'node:fs';

/** Adds how many tests passed and failed to those in CI_RESULT_FILE. A suite that could not run counts as a failed test. */
export default class ResultReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    const file = process.env.CI_RESULT_FILE;
    const { passed, failed } = JSON.parse(readFileSync(file, 'utf8') || '{"passed":0,"failed":0}');
    const result = { passed: passed + numPassedTests, failed: failed + numFailedTests + numRuntimeErrorTestSuites };
    writeFileSync(file, JSON.stringify(result));
  }
}
