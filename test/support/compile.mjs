// Brings up to date what suites start as processes: the built package, which those import as an application would, and
// compiled copies of TypeScript files of this repository.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import ts from 'typescript';

const root = new URL('../../', import.meta.url);
/** Inside this package, so that its own name and its dependencies are found from there. */
export const compiled = new URL('dist-test/', root);

const COMPILER_OPTIONS = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/** What runs as processes of their own, or imports nothing of this repository but each other: side by side, whatever their folders. */
const SINGLE_FILES = [
  'test/support/redis-server.ts',
  'test/support/install-redis.ts',
  'test/e2e/docs/operations/console.ts',
  'test/e2e/docs/operations/deployments.ts',
  ...filesIn('test/processes/'),
];
/** What imports from each other: under the same paths as here. */
const TREE = [
  ...filesIn('bench/'),
  ...filesIn('test/chaos/'),
  ...filesIn('test/cluster/'),
  ...filesIn('test/durability/'),
  ...filesIn('test/e2e/docs/dashboard/'),
  'test/e2e/docs/dashboard-app.ts',
  'test/e2e/docs/transactions/outbox.ts',
  'test/e2e/docs/transactions-relayer.ts',
  ...filesIn('test/support/'),
  'lib/store/redis/keys.ts',
];

/** What an application looks for in the `dist` of its working directory: test/e2e/docs/recipes-threads.spec.ts has two such directories. */
const PLACED = {
  'test/e2e/docs/recipes/handlers-that-compute/thumbnails.thread.ts': 'threads/dist/thumbnails.thread.ts',
  'test/processes/hostile.thread.ts': 'hostile-threads/dist/thumbnails.thread.ts',
};

export function buildAll() {
  if (isStale()) execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
  for (const path of SINGLE_FILES) compile(path, path.split('/').at(-1));
  for (const path of TREE) compile(path, path);
  for (const [path, target] of Object.entries(PLACED)) compile(path, target);
}

/** Whether anything the build is made of is newer than the build. */
function isStale() {
  const built = new URL('dist/cjs/package.json', root);
  if (!existsSync(built)) return true;
  const sources = readdirSync(new URL('lib/', root), { recursive: true }).map((file) => `lib/${file}`);
  const configs = ['tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs', 'scripts/public-types.mjs'];
  return [...sources, ...configs].some((file) => changedAt(new URL(file, root)) > changedAt(built));
}

function changedAt(url) {
  return statSync(url).mtimeMs;
}

function filesIn(folder) {
  return readdirSync(new URL(folder, root), { recursive: true })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.startsWith('node_modules/'))
    .map((file) => folder + file);
}

function compile(path, target) {
  const source = new URL(path, root);
  const file = new URL(target.replace(/\.ts$/, '.js'), compiled);
  // Compiling them all takes three seconds, in each run of a single test file too.
  if (existsSync(file) && [source, new URL(import.meta.url)].every((from) => changedAt(from) < changedAt(file))) return;
  const { outputText } = ts.transpileModule(readFileSync(source, 'utf8'), { compilerOptions: COMPILER_OPTIONS });
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, outputText);
}
