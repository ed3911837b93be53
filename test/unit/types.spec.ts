import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const TYPES = fileURLToPath(new URL('../types/', import.meta.url));
const INDEX = fileURLToPath(new URL('../../lib/index.ts', import.meta.url));

const files = readdirSync(TYPES).filter((file) => file.endsWith('.ts'));
const program = ts.createProgram(
  files.map((file) => TYPES + file),
  {
    strict: true,
    isolatedModules: true,
    emitDecoratorMetadata: true,
    experimentalDecorators: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    paths: { 'nestjs-redis-scheduled-queue': [INDEX] },
    skipLibCheck: true,
    noEmit: true,
  },
);

describe('an application compiles, and its mistakes do not', () => {
  it.each(files)('%s', (file) => {
    const source = program.getSourceFile(TYPES + file);
    const found = ts.getPreEmitDiagnostics(program, source).map(({ messageText, start }) => {
      const line = source!.getLineAndCharacterOfPosition(start ?? 0).line + 1;
      return `${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    expect(found).toEqual([]);
  });

  it('against the source of this library rather than against a build of it', () => {
    expect(program.getSourceFile(INDEX)).toBeDefined();
    expect(
      program
        .getSourceFiles()
        .filter(({ fileName }) => fileName.includes('/dist/index.d.ts') && !fileName.includes('node_modules')),
    ).toEqual([]);
  });

  it('and every mistake is one that some user makes: each says which', () => {
    const directives = readFileSync(`${TYPES}misuse.ts`, 'utf8').match(/@ts-expect-error.*/g)!;
    expect(directives.length).toBeGreaterThan(50);
    expect(directives.filter((directive) => !/^@ts-expect-error \S+ \S+/.test(directive))).toEqual([]);
  });
});
