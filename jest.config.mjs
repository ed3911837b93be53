/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  // What is shipped (tarball, sample app, benchmarks) is tested by `npm run test:package`: it takes minutes, and seldom breaks.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/e2e/package/'],
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
  // On two cores one test file of three mostly waits. More would starve the processes that suites start, which tests nothing.
  maxWorkers: 3,
  // What a test file has imported stays in its worker: some 16 MB a file, and a worker that runs half of all files died of it.
  workerIdleMemoryLimit: '1GB',
  // Longer than HANG_MS of test/support/wait.ts, so that a wait in vain is told by its own words.
  testTimeout: 90_000,
  reporters: [
    'default',
    // For .ci/run: how many tests passed and failed, by Jest's own count.
    ...(process.env.CI_RESULT_FILE ? ['<rootDir>/test/support/result-reporter.mjs'] : []),
    // For `npm run test:times`.
    ...(process.env.TEST_TIMES_FILE ? ['<rootDir>/test/support/times-reporter.mjs'] : []),
  ],
};
