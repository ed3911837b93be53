// One Redis for the whole run: started here and named in REDIS_URL, so that every suite finds it.
export default async function globalSetup() {
  const { startRedis } = await loadSupport();
  const server = await startRedis((line) => process.stdout.write(`${line}\n`));
  process.stdout.write(`Redis for the tests: ${server.origin}\n`);
  process.env.TEST_REDIS_URL = server.url;
  globalThis.__stopRedis = () => server.stop();
}

/** Jest loads this file as it is, so the helper, which is TypeScript, is compiled here. */
async function loadSupport() {
  const { default: ts } = await import('typescript');
  const { readFileSync } = await import('node:fs');
  const source = readFileSync(new URL('./redis-server.ts', import.meta.url), 'utf8');
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(source, { compilerOptions: options });
  const { mkdtempSync, writeFileSync, rmSync } = await import('node:fs');
  // Beside node_modules, so that what the helper imports is found.
  const directory = mkdtempSync(new URL('../../node_modules/.scheduled-queue-', import.meta.url).pathname);
  writeFileSync(`${directory}/redis-server.mjs`, outputText);
  try {
    return await import(`${directory}/redis-server.mjs`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
