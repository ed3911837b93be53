// One Redis for the whole run, named in TEST_REDIS_URL so that every suite finds it; the built package, which the
// processes that suites start import as an application would; and those processes themselves.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import ts from 'typescript';

const root = new URL('../../', import.meta.url);
// Inside this package, so that its own name and its dependencies are found from there.
const compiled = new URL('dist-test/', root);

export default async function globalSetup() {
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
  rmSync(compiled, { recursive: true, force: true });
  mkdirSync(compiled);
  compile('test/support/redis-server.ts');
  for (const file of readdirSync(new URL('test/processes/', root))) compile(`test/processes/${file}`);

  const { startRedis } = await import(new URL('redis-server.js', compiled).href);
  const server = await startRedis((line) => process.stdout.write(`${line}\n`));
  process.stdout.write(`Redis for the tests: ${server.origin}\n`);
  process.env.TEST_REDIS_URL = server.url;
  globalThis.__stopRedis = () => server.stop();
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
