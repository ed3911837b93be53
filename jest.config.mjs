/**
 * Tests that take minutes: of what is shipped (`npm run test:package`), and those that wait for processes, connections and servers to fail or go
 * on for long (`npm run test:faults`). `npm test` leaves each of these folders out, unless an argument begins with its path, as
 * `test/e2e/faults/waking.spec.ts` does.
 */
const LEFT_OUT = [
  'test/e2e/package',
  'test/e2e/faults',
  'test/chaos/chaos.spec.ts',
  'test/contract/histories',
  'test/soak',
];
const isAskedFor = (path) => process.argv.slice(2).some((argument) => argument.startsWith(path));

/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...LEFT_OUT.filter((path) => !isAskedFor(path)).map((path) => `<rootDir>/${path}`),
  ],
  extensionsToTreatAsEsm: ['.ts'],
  // What the docs print imports the package by its name, and runs against the source.
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^nestjs-redis-scheduled-queue$': '<rootDir>/lib/index.ts',
    '^nestjs-redis-scheduled-queue/([\\w-]+)$': '<rootDir>/lib/$1/index.ts',
  },
  transform: {
    '^.+\\.ts$': ['ts-jest', { useESM: true, tsconfig: 'tsconfig.json', diagnostics: false }],
  },
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  // On two cores, which three files keep busy. More files at a time starve each other of the moments that tests have to meet.
  maxWorkers: 3,
  // What a test file has imported stays in its worker: some 16 MB a file, and a worker that runs half of all files died of it.
  workerIdleMemoryLimit: '1GB',
  // Longer than HANG_MS of test/support/wait.ts, so that a wait in vain is told by its own words.
  testTimeout: 90_000,
  reporters: [
    'default',
    ...(LEFT_OUT.some(isAskedFor) ? [] : ['<rootDir>/test/support/time-budget.mjs']),
    // For .ci/run: how many tests passed and failed, by Jest's own count.
    ...(process.env.CI_RESULT_FILE ? ['<rootDir>/test/support/result-reporter.mjs'] : []),
    // For `npm run test:times`.
    ...(process.env.TEST_TIMES_FILE ? ['<rootDir>/test/support/times-reporter.mjs'] : []),
  ],
};
