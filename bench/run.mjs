// npm run bench [-- names… --rounds N --quick --contestants a,b --out folder]: this library beside the queues that others use.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { buildAll, compiled } from '../test/support/compile.mjs';

buildAll();
const main = fileURLToPath(new URL('bench/main.js', compiled));
const child = spawn(process.execPath, [main, ...process.argv.slice(2)], {
  cwd: new URL('../', import.meta.url),
  stdio: 'inherit',
});
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
