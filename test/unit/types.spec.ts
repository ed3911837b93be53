import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const TYPES = fileURLToPath(new URL('../types/', import.meta.url));
const LIB = fileURLToPath(new URL('../../lib/', import.meta.url));
const INDEX = `${LIB}index.ts`;

const files = readdirSync(TYPES).filter((file) => file.endsWith('.ts'));
const OPTIONS: ts.CompilerOptions = {
  strict: true,
  isolatedModules: true,
  emitDecoratorMetadata: true,
  experimentalDecorators: true,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ['node'],
  paths: { 'nestjs-redis-scheduled-queue': [INDEX], 'nestjs-redis-scheduled-queue/*': [`${LIB}*/index.ts`] },
  skipLibCheck: true,
  noEmit: true,
};
const program = ts.createProgram(
  files.map((file) => TYPES + file),
  OPTIONS,
);

/** A mistake in misuse.ts: the words of its directive, the function that it is in, and what the compiler says. */
interface Mistake {
  words: string;
  inside: string;
  said: string;
}

function mistakes(): Mistake[] {
  const path = `${TYPES}misuse.ts`;
  const text = readFileSync(path, 'utf8');
  const host = ts.createCompilerHost(OPTIONS);
  const { getSourceFile } = host;
  host.getSourceFile = (file, version, ...rest) =>
    file === path
      ? ts.createSourceFile(file, text.replaceAll('@ts-expect-error', 'mistake:        '), version, true)
      : (program.getSourceFile(file) ?? getSourceFile(file, version, ...rest));
  const wrong = ts.createProgram([path], OPTIONS, host, program);
  const source = wrong.getSourceFile(path)!;
  const before = (start: number, pattern: RegExp) => [...text.slice(0, start).matchAll(pattern)].at(-1)![1]!;
  return ts.getPreEmitDiagnostics(wrong, source).map(({ messageText, start }) => ({
    words: before(start!, /@ts-expect-error (.*)/g),
    inside: before(start!, /^export (?:async )?(?:function|class|const) (\w+)/gm),
    said: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}

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
        .filter(({ fileName }) => /\/dist\/(\w+\/)?index\.d\.ts$/.test(fileName) && !fileName.includes('node_modules')),
    ).toEqual([]);
  });

  it('and every mistake is one that some user makes: each says which', () => {
    const directives = readFileSync(`${TYPES}misuse.ts`, 'utf8').match(/@ts-expect-error.*/g)!;
    expect(directives.length).toBeGreaterThan(50);
    expect(directives.filter((directive) => !/^@ts-expect-error \S+ \S+/.test(directive))).toEqual([]);
  });

  it('a mistake in a call is told as what it is, and never as one of overloads', () => {
    const inCalls = mistakes().filter(({ inside }) => inside === 'scheduling');
    const said = (words: string) => inCalls.find((mistake) => mistake.words === words)?.said;
    expect(said('a property of another type')).toBe("Type 'string' is not assignable to type 'number'.");
    expect(said('a property is missing')).toMatch(
      /^Argument of type '{ userId: number; }' is not assignable to parameter of type '{ userId: number; email: string; }'.\n.*'email' is missing/s,
    );
    expect(said('a property that the payload does not have')).toMatch(
      /^Object literal may only specify known properties, and 'name' does not exist in type/,
    );
    expect(said('text in place of a number')).toBe(
      "Argument of type 'string' is not assignable to parameter of type 'number'.",
    );
    expect(said('a payload for a job without one')).toMatch(/is not assignable to parameter of type 'void'/);
    expect(said('an option that is misspelt')).toMatch(/'dealy' does not exist in type 'ScheduleOptions'/);
    expect(said('a duration in another language')).toMatch(
      /^Type '"2 horas"' is not assignable to type 'Duration \| undefined'/,
    );
    expect(inCalls.length).toBeGreaterThan(30);
    expect(inCalls.filter((mistake) => mistake.said.startsWith('No overload'))).toEqual([]);
  });
});
