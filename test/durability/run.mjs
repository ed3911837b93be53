// npm run test:durability [-- --jobs N --kills N]: the long form of test/e2e/faults/durability.spec.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { buildAll, compiled } from '../support/compile.mjs';

buildAll();
const main = fileURLToPath(new URL('test/durability/main.js', compiled));
const child = spawn(process.execPath, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
