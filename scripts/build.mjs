// Builds both shapes of the package: ES modules, which Node always loads, and CommonJS for Jest in CommonJS mode.
// Into a folder beside dist that then takes its place, so that whoever runs from dist never sees half a build.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import ts from 'typescript';

const fresh = `dist-new-${process.pid}`;

// Checks the types, and writes the declarations: the same ones for both, since TypeScript takes them for ES modules or CommonJS by the
// package.json above them. Comments stay there, where editors show them, and would only double the code.
const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--emitDeclarationOnly'];
execFileSync(process.execPath, [...tsc, '--outDir', `${fresh}/cjs`], { stdio: 'inherit' });
cpSync(`${fresh}/cjs`, fresh, { recursive: true });

const sources = readdirSync('lib', { recursive: true }).filter((file) => file.endsWith('.ts'));
emit(ts.ModuleKind.ESNext, fresh);
emit(ts.ModuleKind.CommonJS, `${fresh}/cjs`);
writeFileSync(`${fresh}/cjs/package.json`, '{"type":"commonjs"}\n');
rmSync('dist', { recursive: true, force: true });
renameSync(fresh, 'dist');

/** Writes the code of each file: nothing in one depends on another, as `isolatedModules` has it. */
function emit(module, folder) {
  const { options } = ts.getParsedCommandLineOfConfigFile('tsconfig.build.json', { removeComments: true }, ts.sys);
  for (const file of sources) {
    const { outputText } = ts.transpileModule(readFileSync(`lib/${file}`, 'utf8'), {
      compilerOptions: { ...options, module, moduleResolution: ts.ModuleResolutionKind.Bundler },
      fileName: file,
    });
    const target = `${folder}/${file.replace(/ts$/, 'js')}`;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
}
