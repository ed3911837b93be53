// Builds both shapes of the package: ES modules, which Node always loads, and CommonJS for Jest in CommonJS mode.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
const tsc = ['node_modules/typescript/bin/tsc', '-p'];
for (const config of ['tsconfig.build.json', 'tsconfig.cjs.json']) {
  execFileSync(process.execPath, [...tsc, config], { stdio: 'inherit' });
}
writeFileSync('dist/cjs/package.json', '{"type":"commonjs"}\n');
