// One Redis for the whole run, named in TEST_REDIS_URL so that every suite finds it; the built package, which the
// processes that suites start import as an application would; and those processes themselves.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import ts from 'typescript';

const root = new URL('../../', import.meta.url);
// Inside this package, so that its own name and its dependencies are found from there.
const compiled = new URL('dist-test/', root);

export default async function globalSetup() {
  if (isStale()) execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
  mkdirSync(compiled, { recursive: true });
  compile('test/support/redis-server.ts');
  for (const file of readdirSync(new URL('test/processes/', root))) compile(`test/processes/${file}`);

  const { startRedis } = await import(new URL('redis-server.js', compiled).href);
  const server = await startRedis((line) => process.stdout.write(`${line}\n`));
  process.stdout.write(`Redis for the tests: ${server.origin}\n`);
  process.env.TEST_REDIS_URL = server.url;
  globalThis.__stopRedis = () => server.stop();
}

/** Whether anything the build is made of is newer than the build. */
function isStale() {
  const built = new URL('dist/cjs/package.json', root);
  if (!existsSync(built)) return true;
  const sources = readdirSync(new URL('lib/', root), { recursive: true }).map((file) => `lib/${file}`);
  const configs = ['tsconfig.json', 'tsconfig.build.json', 'tsconfig.cjs.json', 'scripts/build.mjs'];
  return [...sources, ...configs].some((file) => statSync(new URL(file, root)).mtimeMs > statSync(built).mtimeMs);
}

function compile(path) {
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  };
  const { outputText } = ts.transpileModule(readFileSync(new URL(path, root), 'utf8'), { compilerOptions });
  writeFileSync(new URL(path.split('/').at(-1).replace(/\.ts$/, '.js'), compiled), outputText);
}
