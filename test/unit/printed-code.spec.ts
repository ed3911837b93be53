import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

// The code that the pages print is the code that the tests run. Of docs/patterns.md: patterns.spec.ts.

const PRINTED: [page: string, folder: string, ...specs: string[]][] = [
  ['README.md', 'test/e2e/docs/readme', 'test/e2e/docs/readme-page.spec.ts'],
  ['docs/autoscaling.md', 'test/e2e/docs/autoscaling', 'test/e2e/docs/autoscaling-page.spec.ts'],
  ['docs/batches.md', 'test/e2e/docs/batches', 'test/e2e/docs/batches-page.spec.ts'],
  ['docs/groups.md', 'test/e2e/docs/groups', 'test/e2e/docs/groups-page.spec.ts'],
  ['docs/codecs.md', 'test/e2e/docs/codecs', 'test/e2e/docs/codecs-page.spec.ts'],
  ['docs/coming-from-bullmq.md', 'test/e2e/docs/coming-from-bullmq', 'test/e2e/docs/coming-from-bullmq-page.spec.ts'],
  [
    'docs/coming-from-nestjs-schedule.md',
    'test/e2e/docs/coming-from-nestjs-schedule',
    'test/e2e/docs/coming-from-nestjs-schedule-page.spec.ts',
  ],
  [
    'docs/dashboard.md',
    'test/e2e/docs/dashboard',
    'test/e2e/docs/dashboard-app.ts',
    'test/e2e/docs/dashboard-page.spec.ts',
  ],
  ['docs/deploys.md', 'test/e2e/docs/deploys', 'test/e2e/docs/deploys-page.spec.ts'],
  ['docs/errors.md', 'test/e2e/docs/errors-page', 'test/e2e/docs/errors-page.spec.ts'],
  ['docs/metrics.md', 'test/e2e/docs/metrics', 'test/e2e/docs/metrics-page.spec.ts'],
  ['docs/health.md', 'test/e2e/docs/health', 'test/e2e/docs/health-page.spec.ts'],
  ['docs/operations.md', 'test/e2e/docs/operations', 'test/e2e/docs/operations-page.spec.ts'],
  ['docs/events.md', 'test/e2e/docs/events-page', 'test/e2e/docs/events-page.spec.ts'],
  ['docs/testing.md', 'test/e2e/docs/testing', 'test/e2e/docs/testing-page.spec.ts'],
  [
    'docs/recipes.md',
    'test/e2e/docs/recipes',
    'test/e2e/docs/recipes.spec.ts',
    'test/e2e/docs/recipes-operated.spec.ts',
    'test/e2e/docs/recipes-threads.spec.ts',
  ],
  ['docs/sets-and-chains.md', 'test/e2e/docs/sets-and-chains', 'test/e2e/docs/sets-and-chains-page.spec.ts'],
  ['docs/scaling.md', 'test/e2e/docs/scaling', 'test/e2e/docs/scaling-page.spec.ts'],
  ['docs/tracing.md', 'test/e2e/docs/tracing', 'test/e2e/docs/tracing-page.spec.ts'],
  ['docs/transactions.md', 'test/e2e/docs/transactions', 'test/e2e/docs/transactions-page.spec.ts'],
  ['docs/recurrence.md', 'test/e2e/docs/recurrence', 'test/e2e/docs/recurrence-page.spec.ts'],
];

it.each(PRINTED)('%s prints exactly the files of %s', (page, folder) => {
  const files = filesOf(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
  expect(blocks(readFileSync(page, 'utf8')).sort()).toEqual(files.sort());
});

it.each(PRINTED)('every file that %s prints from %s is run by %s', (_page, folder, ...specs) => {
  const name = folder.split('/').at(-1)!;
  const text = specs.map((spec) => readFileSync(spec, 'utf8')).join();
  const imports = text.matchAll(new RegExp(`'\\./${name}/(.*)\\.js'`, 'g'));
  const run = new Set([...imports].map(([, file]) => `${file}.ts`));
  // A printed spec is run by Jest, as it is.
  const others = filesOf(folder).filter((file) => !file.endsWith('.spec.ts'));
  expect([...run].sort()).toEqual(others.sort());
});

it('docs/recipes.md prints each file, or the files of each folder, in the section of its name, and names every section at its top', () => {
  const [contents, ...sections] = readFileSync('docs/recipes.md', 'utf8').split(/^## /m);
  const names = sections.map((section) => section.split('\n')[0]!.toLowerCase().replaceAll(' ', '-'));
  const files = names.map((name) => {
    const path = `test/e2e/docs/recipes/${name}`;
    const paths = existsSync(path) ? filesOf(path).map((file) => `${path}/${file}`) : [`${path}.ts`];
    return paths.map((file) => readFileSync(file, 'utf8')).sort();
  });
  expect(sections.map((section) => blocks(section).sort())).toEqual(files);
  expect([...contents!.matchAll(/\(#(.*?)\)/g)].map(([, target]) => target)).toEqual(names);
});

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
}

function blocks(page: string): string[] {
  return [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!);
}
