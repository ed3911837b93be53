// npm run test:cluster [-- --kind cluster|sentinel --jobs N --kills N]: the long form of test/e2e/faults/failovers.spec.ts; both kinds if
// none is given.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { buildAll, compiled } from '../support/compile.mjs';

buildAll();
const main = fileURLToPath(new URL('test/cluster/main.js', compiled));
const given = process.argv.slice(2);
const runs = given.includes('--kind') ? [given] : ['cluster', 'sentinel'].map((kind) => ['--kind', kind, ...given]);
for (const args of runs) {
  const child = spawn(process.execPath, [main, ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}
