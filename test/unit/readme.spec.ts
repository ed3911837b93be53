import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';

const root = resolve('.');
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...docs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`),
];
/** What the examples of docstrings take for granted. */
const CONTEXT = `
import * as queue from 'nestjs-redis-scheduled-queue';
const { currentScheduledJob, defineScheduledJob, InjectScheduledQueue, JobOutcome, OnScheduledJob } = queue;
const { OnScheduledJobEvent, RedisScheduledQueueModule } = queue;
import { ScheduledJob, type ScheduledJobDefinition, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import type { BullBoardInstance } from '@bull-board/nestjs';
import { ScheduledQueueAdapter } from 'nestjs-redis-scheduled-queue/bull-board';
declare const board: BullBoardInstance;
import { messagePackCodec } from 'nestjs-redis-scheduled-queue/msgpack';
import { ScheduledQueueTracingModule } from 'nestjs-redis-scheduled-queue/opentelemetry';
import { ScheduledQueueMetricsModule } from 'nestjs-redis-scheduled-queue/prometheus';
import type { HealthCheckService } from '@nestjs/terminus';
import type { ScheduledQueueHealthIndicator } from 'nestjs-redis-scheduled-queue/terminus';
import { Test } from '@nestjs/testing';
import * as testing from 'nestjs-redis-scheduled-queue/testing';
const { createScheduledJob, overrideScheduledQueue, ScheduledQueueTester, ScheduledQueueTestingModule } = testing;
declare const tester: testing.ScheduledQueueTester;
declare const vi: { setSystemTime(now: Date): void };
declare class AppModule {}
declare class ReminderHandlers {
  send(payload: { to: string }, job: ScheduledJob): Promise<void>;
}
declare const handlers: ReminderHandlers;
declare const producer: ScheduledQueueProducer;
declare const redis: import('ioredis').Redis;
declare const consumer: queue.ScheduledQueueConsumer;
declare const inspector: queue.ScheduledQueueInspector;
declare const events: queue.ScheduledQueueEvents;
declare const health: HealthCheckService;
declare const indicator: ScheduledQueueHealthIndicator;
declare const job: queue.ScheduledJobRef;
declare const sendReminder: ScheduledJobDefinition<{ to: string }>;
`;
const blocks = new Map(pages.flatMap(codeBlocks));
const examples = new Map(sourceFiles().flatMap(codeExamples));
const program = compile();

it('the README and docstrings show code that is checked here', () => {
  expect([...blocks.values()].join()).toContain('@OnScheduledJob(sendReminder)');
  expect([...examples.values()].join()).toContain('producer.cancel(job)');
});

it.each([...blocks.keys(), ...examples.keys()])(
  'the code at %s compiles under strict, isolatedModules and emitDecoratorMetadata',
  (place) => {
    const file = program.getSourceFile(fileOf(place))!;
    const findings = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    expect(findings.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  },
);

it.each([...blocks.keys()])('the code at %s leaves no promise floating and is not async without awaiting', (place) => {
  expect(unawaited(program.getSourceFile(fileOf(place))!)).toEqual([]);
});

const OPTIONS = [
  ['lib/nest/module-options.ts', 'RedisScheduledQueueModuleOptions'],
  ['lib/core/options/queue-options.ts', 'QueueOptions'],
  ['lib/core/job/definition.ts', 'JobDefinitionOptions'],
  ['lib/core/options/schedule-options.ts', 'ScheduleOptions'],
  ['lib/nest/handlers/on-scheduled-job.decorator.ts', 'HandlerOptions'],
] as const;

it.each(OPTIONS)('docs/options.md names exactly the options that %s declares as %s', (path, name) => {
  expect(optionsInPage(name)).toEqual(optionsInSource(path, name).map((option) => option.name));
});

it.each(OPTIONS)(
  "every option that %s declares in %s, and whose name ends in Ms, takes text such as '30s'",
  (path, name) => {
    const durations = optionsInSource(path, name).filter((option) => /Ms$/.test(option.name));
    expect(durations.length).toBeGreaterThan(0);
    expect(durations.filter(({ type }) => !type.includes('Duration')).map((option) => option.name)).toEqual([]);
  },
);

it('nothing that the README says is not there yet is there', () => {
  const [, list] = read('README.md').match(/Not there yet: (.*)/)!;
  const missing = [...list!.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  expect(missing).toContain('partitions');
  const there = exportedNames();
  expect(there).toContain('cancelRunning');
  expect(missing.filter((name) => there.has(name))).toEqual([]);
});

it('the README sends nobody away for what is there', () => {
  const [, list] = read('README.md').match(/\*\*Do not use it\*\* (.*)/)!;
  expect(list).toMatch(/setTimeout/);
  expect(list).not.toMatch(/command line|dashboard|metrics|traces|health|test kit|replica|thread|process|other jobs/);
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

function sourceFiles(): string[] {
  const names = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => `lib/${name}`);
}

/** The code of every @example, in a function where the things that it speaks of are there. */
function codeExamples(path: string): [string, string][] {
  return [...read(path).matchAll(/^ *\* ```ts\n(.*?)^ *\* ```$/gms)].map(({ index, 1: lines }) => {
    const line = read(path).slice(0, index).split('\n').length + 1;
    return [`${path}:${line}`, inContext(lines!.replaceAll(/^ *\* ?/gm, ''))];
  });
}

function inContext(code: string): string {
  return `${CONTEXT}
export async function example() {
${code}
}
`;
}

/** Beside the files that the page prints, so that one block can import another. */
function fileOf(place: string): string {
  const folder = place.startsWith('docs/recipes.md') ? 'recipes/handlers-that-compute' : 'readme';
  return join(root, 'test/e2e/docs', folder, `${place.replaceAll(/[^A-Za-z0-9]/g, '-')}.ts`);
}

/** All blocks in one program, each a module of its own that lies in no file. */
function compile(): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, root);
  expect(options).toMatchObject({ strict: true, isolatedModules: true, emitDecoratorMetadata: true });
  const sources = new Map([...blocks, ...examples].map(([place, code]) => [fileOf(place), `${code}\nexport {};\n`]));
  const withPaths = {
    ...options,
    noUnusedLocals: false,
    paths: {
      'nestjs-redis-scheduled-queue': [join(root, 'lib/index.ts')],
      'nestjs-redis-scheduled-queue/*': [join(root, 'lib/*/index.ts')],
    },
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

/** What two rules of typescript-eslint that Nest's own applications turn on would find: no-floating-promises and require-await. */
function unawaited(file: ts.SourceFile): string[] {
  const checker = program.getTypeChecker();
  const findings: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
      const answered = checker.getTypeAtLocation(node.expression);
      if (answered.getProperty('then')) findings.push(`floating: ${node.getText()}`);
    }
    if (ts.isFunctionLike(node) && 'body' in node && node.body && isAsync(node) && !awaits(node.body)) {
      findings.push(`async without await: ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return findings;
}

function isAsync(node: ts.SignatureDeclaration): boolean {
  const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ?? false;
}

/** Whether a function's body awaits by itself, not only in functions inside it. */
function awaits(body: ts.Node): boolean {
  const look = (node: ts.Node): boolean =>
    ts.isAwaitExpression(node) ||
    (ts.isForOfStatement(node) && node.awaitModifier !== undefined) ||
    (!ts.isFunctionLike(node) && (ts.forEachChild(node, look) ?? false));
  return look(body);
}

/** In the order of their names, each with its type as the compiler prints it. */
function optionsInSource(path: string, name: string): { name: string; type: string }[] {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(join(root, path))!)!;
  const symbol = checker.getExportsOfModule(module).find((exported) => exported.name === name)!;
  return checker
    .getDeclaredTypeOfSymbol(symbol)
    .getProperties()
    .map((option) => ({ name: option.name, type: checker.typeToString(checker.getTypeOfSymbol(option)) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
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

function optionsInPage(name: string): string[] {
  const section = read('docs/options.md').split(`## \`${name}\`\n`)[1]!.split(/^#/m)[0]!;
  const cells = [...section.matchAll(/^\| (`.*?) \| /gm)].map(([, cell]) => cell!);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, option]) => option!)).sort();
}
