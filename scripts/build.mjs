// Builds both shapes of the package: ES modules, which Node always loads, and CommonJS for Jest in CommonJS mode.
// Into a folder beside dist that then takes its place, so that whoever runs from dist never sees half a build.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { rollup } from 'rollup';
import ts from 'typescript';
import { keepPublicTypes } from './public-types.mjs';

const fresh = `dist-new-${process.pid}`;
/** The texts of the scripts, in the folder of CommonJS. */
const PIECES = 'pieces.js';
const MOST_BYTES_A_CHUNK = 28_000;

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

// Each file by itself: nothing in one depends on another, as `isolatedModules` has it.
const modules = `${fresh}/modules`;
for (const file of readdirSync('lib', { recursive: true })) if (file.endsWith('.ts')) emit(file);
await bundle([...entries.map(entryOf), ...Object.values(bin).map(entryOf)], { dir: fresh, format: 'es' });
await bundle(entries.map(entryOf), { dir: `${fresh}/cjs`, format: 'cjs', dynamicImportInCjs: false });
writeFileSync(`${fresh}/cjs/package.json`, '{"type":"commonjs"}\n');
rmSync(modules, { recursive: true });
rmSync('dist', { recursive: true, force: true });
renameSync(fresh, 'dist');

/** `dist/cjs/testing/index.d.ts`, or the like: `testing/index`. */
function entryOf(file) {
  return file.replace(/^(\.\/)?dist\/(cjs\/)?/, '').replace(/(\.d)?\.[jt]s$/, '');
}

/**
 * Some dozens of files, not hundreds: each file that Node loads costs a process more of its start than its code does. Entry points share chunks,
 * so what one of them keeps in a variable is there for all.
 */
async function bundle(names, output) {
  // Rollup makes the path from a chunk as if the chunk lay among the modules.
  const pieces = resolve(modules, output.format === 'cjs' ? '' : 'cjs', PIECES);
  const { write, close } = await rollup({
    input: Object.fromEntries(names.map((name) => [name, `${modules}/${name}.js`])),
    external: (id) => !/^[./]/.test(id) && id !== PIECES,
    plugins: [{ name: 'pieces', resolveId: (id) => (id === PIECES ? { id: pieces, external: 'relative' } : null) }],
    // Nothing is left out: a module may be there for what it does as it is loaded.
    treeshake: false,
    // TypeScript looks at `this` for decorators of another module that may be there.
    onLog: (level, log, handle) => log.code !== 'THIS_IS_UNDEFINED' && handle(level === 'warn' ? 'error' : level, log),
  });
  await write({
    ...output,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    manualChunks: chunked(names),
    minifyInternalExports: false,
    exports: 'named',
    interop: 'auto',
  });
  await close();
}

/**
 * Puts each module into a chunk, by the order in which they run: so no two chunks import each other. A chunk is small enough that its two shapes,
 * which npm packs side by side as they have one name, are compressed as one (gzip looks back 32 kB). What only later entry points need is in
 * chunks of their own.
 */
function chunked(names) {
  const chunks = new Map();
  return (id, { getModuleInfo }) => {
    // At the first module Rollup has read all of them.
    if (chunks.size > 0) return chunks.get(id);
    for (const name of names) {
      let number = 1;
      let bytes = 0;
      const add = (module) => {
        const { importedIds, code, isExternal } = getModuleInfo(module);
        if (isExternal || chunks.has(module)) return;
        chunks.set(module, undefined);
        for (const imported of importedIds) add(imported);
        bytes += code.length;
        if (bytes > MOST_BYTES_A_CHUNK) [number, bytes] = [number + 1, code.length];
        // By this name the tests find the scripts, to plant bugs in them.
        const isScripts = module.endsWith('/scripts/embedded.js');
        chunks.set(module, isScripts ? 'scripts' : `${name.replace(/\/?index$/, '') || 'main'}-${number}`);
      };
      add(resolve(modules, `${name}.js`));
    }
    return chunks.get(id);
  };
}

/** Writes the code of a file as ES modules. */
function emit(file) {
  const { options } = ts.getParsedCommandLineOfConfigFile('tsconfig.build.json', { removeComments: true }, ts.sys);
  const written = (text, module) =>
    indentedByTwo(
      ts.transpileModule(text, {
        compilerOptions: { ...options, module, moduleResolution: ts.ModuleResolutionKind.Bundler },
        fileName: file,
      }).outputText,
    );
  const [text, pieces] = textsOf(file);
  const target = `${modules}/${file.replace(/ts$/, 'js')}`;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, written(text, ts.ModuleKind.ESNext));
  if (pieces) writeFileSync(`${fresh}/cjs/${PIECES}`, written(pieces, ts.ModuleKind.CommonJS));
}

/**
 * A file as it is built. The texts of the Lua scripts, a tenth of all code, are there once, in CommonJS, which ES modules can import: gzip
 * sees what is repeated within 32 kB only, so the tarball, too, would hold both copies.
 */
function textsOf(file) {
  const text = readFileSync(`lib/${file}`, 'utf8');
  if (file !== 'store/redis/scripts/embedded.ts') return [text];
  const [whole] = text.match(/^const PIECES: readonly string\[\] = \[\n.*?^\];\n/ms);
  return [`import { PIECES } from '${PIECES}';\n${text.replace(whole, '')}`, `export ${whole}`];
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
