// Builds both shapes of the package: ES modules, which Node always loads, and CommonJS for Jest in CommonJS mode.
// Into a folder beside dist that then takes its place, so that whoever runs from dist never sees half a build.
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';

const fresh = `dist-new-${process.pid}`;
const tsc = (...args) =>
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', ...args], { stdio: 'inherit' });

tsc('-p', 'tsconfig.build.json', '--outDir', fresh);
tsc('-p', 'tsconfig.cjs.json', '--outDir', `${fresh}/cjs`);
writeFileSync(`${fresh}/cjs/package.json`, '{"type":"commonjs"}\n');
rmSync('dist', { recursive: true, force: true });
renameSync(fresh, 'dist');
