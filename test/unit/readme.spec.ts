import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';

const root = resolve('.');
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`)];
const blocks = new Map(pages.flatMap(codeBlocks));
const program = compile();

it('the README shows code that is checked here', () => {
  expect([...blocks.values()].join()).toContain('@OnScheduledJob(sendReminder)');
});

it.each([...blocks.keys()])(
  'the code at %s compiles under strict, isolatedModules and emitDecoratorMetadata',
  (place) => {
    const file = program.getSourceFile(fileOf(place))!;
    const findings = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    expect(findings.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  },
);

it.each([
  ['lib/nest/module-options.ts', 'RedisScheduledQueueModuleOptions'],
  ['lib/core/queue-options.ts', 'QueueOptions'],
  ['lib/core/definition.ts', 'JobDefinitionOptions'],
  ['lib/core/schedule-options.ts', 'ScheduleOptions'],
  ['lib/nest/on-scheduled-job.decorator.ts', 'HandlerOptions'],
])('the README names exactly the options that %s declares as %s', (path, name) => {
  expect(optionsInReadme(name)).toEqual(optionsInSource(path, name));
});

it('nothing that the README says is not there yet is there', () => {
  const [, list] = read('README.md').match(/Not there yet: (.*)/)!;
  const missing = [...list!.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  expect(missing).toContain('forecast');
  const there = exportedNames();
  expect(there).toContain('cancelRunning');
  expect(missing.filter((name) => there.has(name))).toEqual([]);
});

it.each(pages)('every file that %s links to is there', (page) => {
  const targets = [...read(page).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target]) => target!);
  const missing = targets.filter(
    (target) =>
      !/^https?:/.test(target) &&
      !ts.sys.fileExists(place(page, target)) &&
      !ts.sys.directoryExists(place(page, target)),
  );
  expect(missing).toEqual([]);
});

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function place(page: string, target: string): string {
  return join(root, page, '..', target);
}

/** The code of every ts block, by page and the line that it begins at. */
function codeBlocks(page: string): [string, string][] {
  return [...read(page).matchAll(/^```ts\n(.*?)^```$/gms)].map(({ index, 1: code }) => {
    const line = read(page).slice(0, index).split('\n').length + 1;
    return [`${page}:${line}`, code!];
  });
}

function fileOf(place: string): string {
  return join(root, 'test', `${place.replaceAll(/[^A-Za-z0-9]/g, '-')}.ts`);
}

/** All blocks in one program, each a module of its own that lies in no file. */
function compile(): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, root);
  expect(options).toMatchObject({ strict: true, isolatedModules: true, emitDecoratorMetadata: true });
  const sources = new Map([...blocks].map(([place, code]) => [fileOf(place), `${code}\nexport {};\n`]));
  const withPaths = {
    ...options,
    noUnusedLocals: false,
    paths: { 'nestjs-redis-scheduled-queue': [join(root, 'lib/index.ts')] },
  };
  const host = ts.createCompilerHost(withPaths);
  const { readFile, fileExists, getSourceFile } = host;
  host.fileExists = (file) => sources.has(file) || fileExists(file);
  host.readFile = (file) => sources.get(file) ?? readFile(file);
  host.getSourceFile = (file, version, ...rest) => {
    const code = sources.get(file);
    // The format that the nearest package.json asks for, as for a real file of this package.
    if (code !== undefined) return ts.createSourceFile(file, code, version, true);
    return getSourceFile(file, version, ...rest);
  };
  return ts.createProgram([...sources.keys(), join(root, 'lib/index.ts')], withPaths, host);
}

function optionsInSource(path: string, name: string): string[] {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(join(root, path))!)!;
  const symbol = checker.getExportsOfModule(module).find((exported) => exported.name === name)!;
  return checker
    .getDeclaredTypeOfSymbol(symbol)
    .getProperties()
    .map((property) => property.name)
    .sort();
}

/** What can be imported, the methods of its classes, and the options of jobs, handlers, calls and queues. */
function exportedNames(): Set<string> {
  const checker = program.getTypeChecker();
  const index = checker.getSymbolAtLocation(program.getSourceFile(join(root, 'lib/index.ts'))!)!;
  const exported = checker.getExportsOfModule(index).map((symbol) => {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  });
  const open = exported.filter(
    // Not those of the module: its `queues` is not the inspector's.
    ({ name, flags }) => flags & ts.SymbolFlags.Class || (/Options$/.test(name) && !/Module/.test(name)),
  );
  const members = open.flatMap((symbol) => checker.getDeclaredTypeOfSymbol(symbol).getProperties());
  return new Set([...exported, ...members].map(({ name }) => name));
}

function optionsInReadme(name: string): string[] {
  const section = read('README.md').split(`### \`${name}\`\n`)[1]!.split(/^#/m)[0]!;
  const cells = [...section.matchAll(/^\| (`.*?) \| /gm)].map(([, cell]) => cell!);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, option]) => option!)).sort();
}
