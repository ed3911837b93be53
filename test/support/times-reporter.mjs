import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { relative } from 'node:path';

const MOST_FILES = 30;

/** Writes which test files took longest to TEST_TIMES_FILE. */
export default class TimesReporter {
  onRunComplete(_contexts, { testResults, startTime, numTotalTests }) {
    const files = testResults
      .map(({ testFilePath, perfStats, testResults: cases }) => ({
        path: relative(process.cwd(), testFilePath),
        seconds: (perfStats.end - perfStats.start) / 1_000,
        cases: cases.length,
      }))
      .sort((a, b) => b.seconds - a.seconds);
    const total = Math.round((Date.now() - startTime) / 1_000);
    const sum = Math.round(files.reduce((seconds, file) => seconds + file.seconds, 0));
    const rows = files
      .slice(0, MOST_FILES)
      .map(({ path, seconds, cases }) => `| ${path} | ${seconds.toFixed(1)} | ${cases} |`);
    const text = [
      '# The slowest test files',
      '',
      `Written by \`npm run test:times\`. The run took ${total} s for ${numTotalTests} cases in ${files.length} files, on ${cpus().length} cores with Node ${process.versions.node}; all files together ${sum} s.`,
      '',
      '| file | seconds | cases |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n');
    writeFileSync(process.env.TEST_TIMES_FILE, text);
  }
}
