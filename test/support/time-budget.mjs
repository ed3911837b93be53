import { relative } from 'node:path';

/**
 * What a test file of `npm test` may take, some three times as long as the slowest one takes on two quiet cores. A file that needs more
 * belongs to `npm run test:faults`, or waits for something in real time that a clock of the test could bring about.
 */
const MOST_SECONDS = 180;

/** Fails the run where a test file takes longer than its budget: Jest fails a run whose reporter answers an error to `getLastError`. */
export default class TimeBudget {
  #overBudget = [];

  onTestResult(_test, { testFilePath, perfStats }) {
    const seconds = Math.round((perfStats.end - perfStats.start) / 1_000);
    if (seconds > MOST_SECONDS) this.#overBudget.push(`${relative(process.cwd(), testFilePath)} took ${seconds} s`);
  }

  onRunComplete() {
    if (this.#overBudget.length > 0) process.stderr.write(`\n${this.getLastError().message}\n`);
  }

  getLastError() {
    if (this.#overBudget.length === 0) return undefined;
    return new Error(
      `${this.#overBudget.join(', ')}: a test file may take ${MOST_SECONDS} s. See test/support/time-budget.mjs.`,
    );
  }
}
