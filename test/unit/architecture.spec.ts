import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const LIB = fileURLToPath(new URL('../../lib', import.meta.url));
/** From the lowest up: each imports from itself and from those before it. */
const FLOORS = ['core', 'store', 'worker', 'api', 'nest'];
const PACKAGE = JSON.parse(readFileSync(join(LIB, '../package.json'), 'utf8'));
/** The rooms of the entry points beside the index, such as `msgpack` of `nestjs-redis-scheduled-queue/msgpack`, on top of all floors. */
const ENTRIES = Object.keys(PACKAGE.exports).flatMap((path) => path.match(/^\.\/([\w-]+)$/)?.[1] ?? []);
/** The rooms of the programs of the package, on top of all floors as well. */
const PROGRAMS = Object.values<string>(PACKAGE.bin).map((path) => path.match(/^dist\/([\w-]+)\/index\.js$/)![1]!);
/** A longer one has two roles, as a rule. */
const LONGEST_FILE = 300;
/** Made by a script from the Lua scripts. */
const isMade = (file: string) =>
  /^(store\/redis\/scripts\/(embedded|\w+\/contract)|testing\/redis\/lua\/programs)\.ts$/.test(file);

interface Import {
  from: string;
  /** A file of lib, or a package. */
  to: string;
}

const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .sort();

/** Imports and exports from elsewhere, those of types and dynamic ones included. */
const imports: Import[] = files.flatMap((from) =>
  ts.preProcessFile(readFileSync(join(LIB, from), 'utf8')).importedFiles.map(({ fileName }) => ({
    from,
    to: fileName.startsWith('.') ? relative(LIB, join(LIB, dirname(from), fileName)).replace(/\.js$/, '.ts') : fileName,
  })),
);
const inside = imports.filter(({ to }) => files.includes(to));
const outside = imports.filter(({ to }) => !files.includes(to));

const floorOf = (file: string) => file.split('/')[0]!;
const folderOf = (file: string) => dirname(file);
const packageOf = (name: string) => name.match(/^(@[^/]+\/)?[^/]+/)![0];
const told = (list: Import[]) => list.map(({ from, to }) => `${from} imports ${to}`);
const importersOf = (isMeant: (name: string) => boolean) =>
  new Set(outside.filter(({ to }) => isMeant(packageOf(to))).map(({ from }) => floorOf(from)));

it('lib has the five floors, an index and a room for each further entry point and each program, and nothing beside them', () => {
  expect([...new Set(files.map(floorOf))].sort()).toEqual([...FLOORS, ...ENTRIES, ...PROGRAMS, 'index.ts'].sort());
});

it.each([...ENTRIES, ...PROGRAMS])(
  'nobody imports the room of the entry point or program %s, which has an index and needs no other such room',
  (entry) => {
    expect(files).toContain(`${entry}/index.ts`);
    const others = inside.filter(({ from, to }) => floorOf(from) !== floorOf(to));
    expect(told(others.filter(({ to }) => floorOf(to) === entry))).toEqual([]);
    expect(told(others.filter(({ from, to }) => floorOf(from) === entry && !FLOORS.includes(floorOf(to))))).toEqual([]);
  },
);

it.each([
  ['@bull-board/api', 'bull-board'],
  ['msgpackr', 'msgpack'],
  ['@nestjs/terminus', 'terminus'],
  ['@opentelemetry/api', 'opentelemetry'],
  ['prom-client', 'prometheus'],
])('%s, which one entry point needs, is imported nowhere but in %s', (needed, entry) => {
  expect(importersOf((name) => name === needed)).toEqual(new Set([entry]));
});

it('every import inside lib leads to a file', () => {
  expect(inside.length).toBeGreaterThan(100);
  // bull-board exports a file of its package by path.
  const own = outside.filter(({ to }) => packageOf(to) !== '@bull-board/api');
  expect(told(own.filter(({ to }) => to.startsWith('.') || to.endsWith('.ts') || to.endsWith('.js')))).toEqual([]);
});

it('no import points to a floor above', () => {
  const up = inside.filter(
    ({ from, to }) => FLOORS.includes(floorOf(from)) && FLOORS.indexOf(floorOf(to)) > FLOORS.indexOf(floorOf(from)),
  );
  expect(told(up)).toEqual([]);
});

it('no floor but the highest knows Nest, and the rooms that add to its applications or test them', () => {
  const rooms = ['nest', 'opentelemetry', 'prometheus', 'terminus', 'testing'];
  expect(importersOf((name) => name.startsWith('@nestjs/'))).toEqual(new Set(rooms));
});

it('whatever the command line loads, it is nothing of Nest', () => {
  const loaded = new Set(files.filter((file) => floorOf(file) === 'command-line'));
  for (const file of loaded) for (const { from, to } of inside) if (from === file) loaded.add(to);
  expect(loaded).toContain('api/scheduled-queue.inspector.ts');
  const packages = new Set(outside.filter(({ from }) => loaded.has(from)).map(({ to }) => packageOf(to)));
  const ofNest = [...packages].filter((name) => /^@nestjs\/|^(rxjs|reflect-metadata)$/.test(name));
  expect(ofNest).toEqual([]);
});

it('no folder but that of the Redis store knows ioredis', () => {
  const folders = outside.filter(({ to }) => packageOf(to) === 'ioredis').map(({ from }) => folderOf(from));
  expect(folders).not.toEqual([]);
  expect(folders.filter((folder) => !folder.startsWith('store/redis'))).toEqual([]);
});

it('no floor above the store knows which store it is, but the highest, the command line and the test kit', () => {
  const knowing = inside.filter(({ from, to }) => to.startsWith('store/redis/') && !from.startsWith('store/redis/'));
  expect(new Set(knowing.map(({ from }) => floorOf(from)))).toEqual(
    new Set(['nest', 'command-line', 'index.ts', 'testing']),
  );
});

/** What tells the time, or calls back with it, past the clock that is handed down. */
const TIME_OF_ITS_OWN = new Set([
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'Date.now',
  'AbortSignal.timeout',
]);
const CLOCK_FILE = 'core/clock.ts';
/** Sees by real time that a handler under test hangs. */
const WATCHDOG_FILE = 'testing/time/watchdog.ts';

it('no floor of core, worker and api asks for the time but by the clock that it is given', () => {
  const asked = files
    .filter((file) => ['core', 'worker', 'api'].includes(floorOf(file)) && file !== CLOCK_FILE)
    .flatMap((file) => timesAskedIn(file, readFileSync(join(LIB, file), 'utf8')));
  expect(asked).toEqual([]);
  const timers = outside.filter(
    ({ from, to }) => to.startsWith('node:timers') && floorOf(from) !== 'store' && from !== WATCHDOG_FILE,
  );
  expect(told(timers)).toEqual([]);
  const planted =
    'new Date(0); new Date(); new Date; Date(); Date.parse(t); Date.now(); x.now(); setTimeout(f); let performance_: Date;';
  expect(timesAskedIn('a.ts', planted)).toHaveLength(5);
});

it('nobody in lib imports the index', () => {
  expect(told(inside.filter(({ to }) => to === 'index.ts'))).toEqual([]);
});

it('nobody in lib imports a package that its users need not have', () => {
  const { dependencies, peerDependencies } = PACKAGE;
  const known = Object.keys({ ...dependencies, ...peerDependencies });
  expect(told(outside.filter(({ to }) => !to.startsWith('node:') && !known.includes(packageOf(to))))).toEqual([]);
});

it('no imports go round in a circle', () => {
  expect(findCircle(inside)).toEqual([]);
  const triangle = ['a b', 'b c', 'c b'].map((pair) => ({ from: pair[0]!, to: pair[2]! }));
  expect(findCircle(triangle)).toEqual(['b', 'c', 'b']);
});

describe('a file is short enough to be read at once', () => {
  it.each(files.filter((file) => !isMade(file)))('%s', (file) => {
    const lines = readFileSync(join(LIB, file), 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(LONGEST_FILE);
  });
});

it.each(['store/redis/scripts'])('docs/redis-design.md names each script of lib/%s', (folder) => {
  const page = readFileSync(join(LIB, '../docs/redis-design.md'), 'utf8');
  const scripts = readdirSync(join(LIB, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua') && /\n-- @returns? /.test(readFileSync(join(LIB, folder, file), 'utf8')))
    .map((file) => basename(file, '.lua'));
  expect(scripts).not.toEqual([]);
  expect(scripts.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

/** Each place in a file that asks for the time, or has itself called back, with what is asked. */
function timesAskedIn(file: string, text: string): string[] {
  const asked: string[] = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  function look(node: ts.Node): void {
    const found = node.getText(source);
    const isNow =
      (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
      node.expression.getText(source) === 'Date' &&
      (ts.isCallExpression(node) || !node.arguments?.length);
    const isNamed = (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node)) && TIME_OF_ITS_OWN.has(found);
    if (isNow || isNamed) asked.push(`${file}: ${found}`);
    ts.forEachChild(node, look);
  }
  look(source);
  return asked;
}

/** The files of one circle, the first again as the last; none where there is no circle. */
function findCircle(list: Import[]): string[] {
  const done = new Set<string>();
  function follow(file: string, path: string[]): string[] {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const { from, to } of list) {
      if (from !== file) continue;
      const circle = follow(to, [...path, file]);
      if (circle.length > 0) return circle;
    }
    done.add(file);
    return [];
  }
  for (const { from } of list) {
    const circle = follow(from, []);
    if (circle.length > 0) return circle;
  }
  return [];
}
