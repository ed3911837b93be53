// npm run test:cluster [-- --kind cluster|sentinel --jobs N --kills N]: the long form of test/e2e/faults/failovers.spec.ts; both kinds
// if none is given.
// npm run test:cluster -- --kind slots [--jobs N --moves N --seed N]: the slots of a busy queue move. Without any option: all three.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { buildAll, compiled } from '../support/compile.mjs';

buildAll();
const given = process.argv.slice(2);
const kinds = given.length > 0 ? ['cluster', 'sentinel'] : ['cluster', 'sentinel', 'slots'];
const runs = given.includes('--kind') ? [given] : kinds.map((kind) => ['--kind', kind, ...given]);
for (const args of runs) {
  const file = args.includes('slots') ? 'slots' : 'main';
  const main = fileURLToPath(new URL(`test/cluster/${file}.js`, compiled));
  const child = spawn(process.execPath, [main, ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}
