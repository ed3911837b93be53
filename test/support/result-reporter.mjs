import { writeFileSync } from 'node:fs';

/** Writes how many tests passed and failed to CI_RESULT_FILE. A suite that could not run counts as a failed test. */
export default class ResultReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    const result = { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
    writeFileSync(process.env.CI_RESULT_FILE, JSON.stringify(result));
  }
}
