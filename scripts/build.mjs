// Builds both shapes of the package: ES modules, which Node always loads, and CommonJS for Jest in CommonJS mode.
// Into a folder beside dist that then takes its place, so that whoever runs from dist never sees half a build.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';
import { keepPublicTypes } from './public-types.mjs';

const fresh = `dist-new-${process.pid}`;

// Checks the types, and writes the declarations: the same ones for both, since TypeScript takes them for ES modules or CommonJS by the
// package.json above them. Comments stay there, where editors show them, and would only double the code.
const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--emitDeclarationOnly'];
execFileSync(process.execPath, [...tsc, '--outDir', `${fresh}/cjs`], { stdio: 'inherit' });
const { bin, exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const entries = Object.values(exports).flatMap((entry) => entry.require?.types ?? []);
keepPublicTypes(
  `${fresh}/cjs`,
  entries.map((file) => join(file.replace(/^\.\/dist\/cjs/, `${fresh}/cjs`))),
);
cpSync(`${fresh}/cjs`, fresh, { recursive: true });

const sources = readdirSync('lib', { recursive: true }).filter((file) => file.endsWith('.ts'));
emit(sources, ts.ModuleKind.ESNext, fresh);
emit(sources.filter(isImported), ts.ModuleKind.CommonJS, `${fresh}/cjs`);
writeFileSync(`${fresh}/cjs/package.json`, '{"type":"commonjs"}\n');
rmSync('dist', { recursive: true, force: true });
renameSync(fresh, 'dist');

/** Whether applications import it. What only the programs of the package need is never loaded as CommonJS. */
function isImported(file) {
  return Object.values(bin).every((program) => !`dist/${file}`.startsWith(`${dirname(program)}/`));
}

/** Writes the code of each file: nothing in one depends on another, as `isolatedModules` has it. */
function emit(files, module, folder) {
  const { options } = ts.getParsedCommandLineOfConfigFile('tsconfig.build.json', { removeComments: true }, ts.sys);
  for (const [file, text] of files.flatMap((source) => textsOf(source, module))) {
    const { outputText } = ts.transpileModule(text, {
      compilerOptions: { ...options, module, moduleResolution: ts.ModuleResolutionKind.Bundler },
      fileName: file,
    });
    const target = `${folder}/${file.replace(/ts$/, 'js')}`;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, indentedByTwo(outputText));
  }
}

/**
 * A file as it is built. The texts of the Lua scripts, a tenth of all code, are there once, in CommonJS, which ES modules can import: gzip
 * sees what is repeated within 32 kB only, so the tarball, too, would hold both copies.
 */
function textsOf(file, module) {
  const text = readFileSync(`lib/${file}`, 'utf8');
  if (file !== 'store/redis/scripts/embedded.ts') return [[file, text]];
  const [whole] = text.match(/^const PIECES: readonly string\[\] = \[\n.*?^\];\n/ms);
  const folder = dirname(file);
  const isCommonJs = module === ts.ModuleKind.CommonJS;
  const from = isCommonJs ? '.' : posix.join(posix.relative(folder, ''), 'cjs', folder);
  const embedded = `import { PIECES } from '${from}/pieces.js';\n${text.replace(whole, '')}`;
  return isCommonJs
    ? [
        [file, embedded],
        [`${folder}/pieces.ts`, `export ${whole}`],
      ]
    : [[file, embedded]];
}

/** TypeScript indents by four spaces, a tenth of all code. Lines inside of a template literal stay as they are. */
function indentedByTwo(text) {
  const source = ts.createSourceFile('made.js', text, ts.ScriptTarget.ESNext);
  const inTemplate = new Set();
  const lineOf = (at) => source.getLineAndCharacterOfPosition(at).line;
  const visit = (node) => {
    if (ts.isTemplateLiteralToken(node))
      for (let line = lineOf(node.getStart(source)) + 1; line <= lineOf(node.end); line++) inTemplate.add(line);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return text
    .split('\n')
    .map((line, i) => (inTemplate.has(i) ? line : line.replace(/^( {4})+/, (spaces) => ' '.repeat(spaces.length / 2))))
    .join('\n');
}
