// npm run test:soak [-- --jobs N]: the long form of test/soak/soak.spec.ts, against a Redis of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import setup from '../support/global-setup.mjs';
import teardown from '../support/global-teardown.mjs';

const root = new URL('../../', import.meta.url);
const args = process.argv.includes('--jobs') ? process.argv.slice(2) : ['--jobs', '2000000'];

await setup();
const { startOwnServer } = await import(new URL('dist-test/redis-server.js', root).href);
const server = await startOwnServer();
const child = spawn(process.execPath, ['--expose-gc', 'dist-test/soak.js', ...args], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, REDIS: server.url },
});
const [code] = await once(child, 'exit');
await server.stop();
await teardown();
process.exitCode = code ?? 1;
