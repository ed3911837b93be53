import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { printedSpecs } from './printed-specs.js';

// The package as users get it: packed, installed from the registry's side, compiled and run by applications of their own.

const PACKAGE = 'nestjs-redis-scheduled-queue';
const TSC = 'node_modules/typescript/bin/tsc';
/** How an application may be compiled, and the package's types be found. */
const RESOLUTIONS = [
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
] as const;
/** What the applications print of their metrics. */
const METRICS = [
  'scheduled_queue_events_total{queue="default",job="report.make",type="started"} 1',
  'scheduled_queue_jobs{queue="default",state="scheduled"} 1',
  'scheduled_queue_redis_up 1',
];
const INSTALL = ['install', '--no-audit', '--no-fund', '--prefer-offline'];
/** What of npm's settings its child processes need; the rest is about the run of `npm test` that this one is in. */
const NPM_SETTINGS =
  /^npm_config_(registry|cache|userconfig|globalconfig|cafile|proxy|https_proxy|noproxy|strict_ssl)$/i;

const folder = mkdtempSync(join(tmpdir(), 'scheduled-queue-package-'));
let tarball: string;
/** What npm says of it. */
let packed: { filename: string; integrity: string; size: number; unpackedSize: number };

beforeAll(async () => {
  // Built by the global set-up.
  [packed] = JSON.parse(await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], '.'));
  tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!);
}, 70_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the tarball', () => {
  it('holds the build, the documents and nothing of the sources', async () => {
    const files = (await run('tar', ['-tzf', tarball], '.')).trim().split('\n');
    expect(files).toEqual(
      expect.arrayContaining([
        'package/package.json',
        'package/LICENSE',
        'package/dist/index.js',
        'package/dist/index.d.ts',
        'package/dist/cjs/index.js',
        'package/dist/cjs/index.d.ts',
        'package/dist/cjs/package.json',
        'package/dist/command-line/index.js',
        'package/dist/bull-board/index.js',
        'package/dist/bull-board/index.d.ts',
        'package/dist/cjs/bull-board/index.js',
        'package/dist/cjs/bull-board/index.d.ts',
        'package/dist/msgpack/index.js',
        'package/dist/msgpack/index.d.ts',
        'package/dist/cjs/msgpack/index.js',
        'package/dist/cjs/msgpack/index.d.ts',
        'package/dist/opentelemetry/index.js',
        'package/dist/opentelemetry/index.d.ts',
        'package/dist/cjs/opentelemetry/index.js',
        'package/dist/cjs/opentelemetry/index.d.ts',
        'package/dist/prometheus/index.js',
        'package/dist/prometheus/index.d.ts',
        'package/dist/cjs/prometheus/index.js',
        'package/dist/cjs/prometheus/index.d.ts',
        'package/dist/terminus/index.js',
        'package/dist/terminus/index.d.ts',
        'package/dist/cjs/terminus/index.js',
        'package/dist/cjs/terminus/index.d.ts',
        'package/dist/testing/index.js',
        'package/dist/testing/index.d.ts',
        'package/dist/cjs/testing/index.js',
        'package/dist/cjs/testing/index.d.ts',
      ]),
    );
    const known =
      /^package\/(dist\/.*\.(js|d\.ts)|dist\/cjs\/package\.json|docs\/.*|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/;
    // These are for those who build it, or who decide about it: the repository has them.
    const left =
      /^package\/docs\/(architecture|calls-and-replays|coming-from-bullmq|coming-from-nestjs-schedule|faults|glossary|patterns|redis-design|scaling|worker-design)\.md$/;
    const unwanted = (file: string) => !known.test(file) || /\.lua$|(?<!\.d)\.ts$/.test(file) || left.test(file);
    expect(files.filter(unwanted)).toEqual([]);
  });

  it('is what `npm pack --dry-run` announces, byte for byte, and publishing builds it first', async () => {
    const [announced] = JSON.parse(await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], '.'));
    const { version, scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(announced).toMatchObject({ name: PACKAGE, version, filename: packed.filename, integrity: packed.integrity });
    expect(scripts.prepack).toBe('npm run build');
  });

  // A quarter of that is the scripts as JavaScript, twice: the test kit alone loads them.
  it('has at most 850 kB, and 5 MB unpacked', () => {
    expect(packed.size).toBeLessThanOrEqual(850_000);
    expect(packed.unpackedSize).toBeLessThanOrEqual(5_000_000);
  });

  it('passes publint', async () => {
    const { buffer, byteOffset, byteLength } = readFileSync(tarball);
    const contents = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    const { messages, pkg } = await publint({ strict: true, level: 'warning', pack: { tarball: contents } });
    expect(messages.map((message) => formatMessage(message, pkg!, { color: false }))).toEqual([]);
  });
});

describe('in a Nest 12 application of ES modules, with ioredis 6 and without class-validator', () => {
  let app: string;

  beforeAll(async () => {
    app = await install('nest12-esm');
  }, 180_000);

  it('compiles under strict, its types included, however modules are resolved', async () => {
    await compiles(app, RESOLUTIONS);
  }, 290_000);

  it('runs, pops and relays jobs in plain Node, past a guard, and lets the process end', async () => {
    const output = await run(process.execPath, ['dist/main.js'], app, { env: redis() });
    expect(lines(output)).toEqual([
      'cancelled 1',
      'closed',
      'handled member',
      'handled plain',
      'popped row, row 7',
      'refused stranger: ForbiddenException',
    ]);
  }, 70_000);

  it('stores payloads by the codec of the entry point ./msgpack', async () => {
    const output = await run(process.execPath, ['dist/message-pack.js'], app, { env: redis() });
    expect(lines(output)).toEqual(['photo of 2027: ffd800']);
  }, 70_000);

  it('measures a queue by the entry point ./prometheus', async () => {
    const output = await run(process.execPath, ['dist/metrics.js'], app, { env: redis() });
    expect(lines(output)).toEqual(METRICS);
  }, 70_000);

  it(
    'answers probes and scrapes as docs/health.md and docs/metrics.md print it, with terminus 12',
    () => isWatched(app),
    70_000,
  );

  it('shows a queue on the board that docs/dashboard.md prints, without bull and bullmq', () => hasBoard(app), 70_000);

  it(
    'traces jobs as docs/tracing.md prints it, with the SDK that the page names for this Node',
    () => isTraced(app),
    70_000,
  );

  it('computes in threads as docs/recipes.md prints it', () => computes(app), 70_000);

  it('says what to install where a job has a payload class', async () => {
    const output = await run(process.execPath, ['dist/payload-class.js'], app, { env: redis() });
    expect(lines(output)).toEqual([
      'InvalidOptionsError: The payload class Invoice needs the packages class-validator and class-transformer: npm install class-validator class-transformer',
      'closed',
    ]);
  }, 70_000);

  it('does not start with a handler whose job has a payload class, and says what to install', async () => {
    const output = await run(process.execPath, ['dist/payload-class-handler.js'], app, { env: redis() });
    expect(lines(output)).toEqual([
      'both: InvalidOptionsError: InvoiceHandlers.send (InvoiceModule): the payload class Invoice needs the packages class-validator and class-transformer: npm install class-validator class-transformer',
      'producer: InvalidOptionsError: InvoiceHandlers.send (InvoiceModule): the payload class Invoice needs the packages class-validator and class-transformer: npm install class-validator class-transformer',
    ]);
  }, 70_000);

  it('cannot load a definition in a circle of imports, as the page on errors says', async () => {
    const said = await run(process.execPath, ['dist/circle/main.js'], app);
    expect(said).toBe("ReferenceError: Cannot access 'sendReminder' before initialization\n");
    expect(readFileSync('docs/errors.md', 'utf8')).toContain(said.trim());
  }, 70_000);

  it('is tested without Redis in node:test, Vitest and Jest of ES modules, with fake timers as well', async () => {
    const ofNode = readdirSync(join(app, 'dist/node')).map((file) => `dist/node/${file}`);
    await run(process.execPath, ['--test', 'runners/node.mjs', ...ofNode], app);
    await run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--dir', 'runners'], app);
    const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--ci', '--testMatch'];
    await run(process.execPath, [...jest, '**/*.jest.mjs', '**/dist/{recipes,tracing-page}/*.spec.js'], app);
  }, 190_000);

  it('imports, in a time that is told', async () => {
    const output = await run(process.execPath, ['dist/import-time.js'], app);
    process.stdout.write(`Import of the package: ${output}`);
    expect(output).toMatch(/^\d+ ms/);
  }, 70_000);
});

describe('in a Nest 11 application of CommonJS, with ioredis 5.4.2', () => {
  let app: string;

  beforeAll(async () => {
    app = await install('nest11-cjs');
  }, 180_000);

  it('compiles under strict, its types included, however modules are resolved', async () => {
    await compiles(app, [['commonjs', 'node10'], ...RESOLUTIONS]);
  }, 290_000);

  it('runs jobs in plain Node, past a guard, and lets the process end', async () => {
    const output = await run(process.execPath, ['dist/main.js'], app, { env: redis() });
    expect(lines(output)).toEqual(['handled early', 'handled plain', 'refused late: ForbiddenException']);
  }, 70_000);

  it('stores payloads by the codec of the entry point ./msgpack, with the oldest msgpackr that it takes', async () => {
    const output = await run(process.execPath, ['dist/message-pack.js'], app, { env: redis() });
    expect(lines(output)).toEqual(['photo of 2027: ffd800']);
  }, 70_000);

  it('measures a queue by the entry point ./prometheus, with the oldest prom-client that it takes', async () => {
    const output = await run(process.execPath, ['dist/metrics.js'], app, { env: redis() });
    expect(lines(output)).toEqual(METRICS);
  }, 70_000);

  it(
    'answers probes and scrapes as docs/health.md and docs/metrics.md print it, with terminus 11',
    () => isWatched(app),
    70_000,
  );

  it('shows a queue on the board that docs/dashboard.md prints, without bull and bullmq', () => hasBoard(app), 70_000);

  it(
    'traces jobs as docs/tracing.md prints it, with the SDK that the page names for this Node',
    () => isTraced(app),
    70_000,
  );

  it('computes in threads as docs/recipes.md prints it', () => computes(app), 70_000);

  it('waits for running handlers before a database is closed, wherever that is imported', async () => {
    const output = await run(process.execPath, ['dist/draining.js'], app, { env: redis() });
    expect(output.trim().split('\n')).toEqual([
      'imported after the queue: the handler wrote',
      'imported before the queue: the handler wrote',
      'global, after the queue: the handler wrote',
      'global, before the queue: the handler wrote',
      'beside the handler: the handler wrote',
    ]);
  }, 70_000);

  it('gives running jobs back and ends at a second SIGTERM', async () => {
    const output = run(process.execPath, ['dist/second-signal.js'], app, { env: { ...redis(), NO_COLOR: '1' } });
    await expect(output).rejects.toThrow(
      /Waiting up to 20 s for 1 running job: work\.\n.*SIGTERM during the shutdown: [^\n]*\n.*1 went back to the queue\.\nexit 143\n/,
    );
  }, 70_000);

  it('names class, method and cause where a circle of imports leaves a definition undefined', async () => {
    expect(await run(process.execPath, ['dist/circle/main.js'], app)).toMatch(
      /^InvalidOptionsError: @OnScheduledJob on Reminders\.send: job: got undefined.*imported in a circle/,
    );
  }, 70_000);

  it('is one module in plain Node, whether required or imported', async () => {
    const code = `const required = require('${PACKAGE}'); import('${PACKAGE}').then((imported) => console.log(required.ScheduledJob === imported.ScheduledJob));`;
    expect(await run(process.execPath, ['-e', code], app)).toBe('true\n');
  }, 70_000);

  it('runs jobs in Jest in CommonJS mode, past guards, pipes and filters and in request scope', async () => {
    await run(process.execPath, ['node_modules/jest/bin/jest.js', '--ci'], app, { env: redis(), timeout: 110_000 });
  }, 190_000);
});

/** The fixture in a folder of its own, with the packed package and what it names itself, compiled. */
async function install(fixture: string): Promise<string> {
  const app = join(folder, fixture);
  mkdirSync(app);
  cpSync(`test/e2e/package/fixtures/${fixture}`, app, { recursive: true });
  cpSync('test/e2e/package/fixtures/shared', join(app, 'src'), { recursive: true });
  // As docs/testing.md prints them: see test/unit/printed-code.spec.ts.
  cpSync('test/e2e/docs/testing', join(app, 'src/recipes'), { recursive: true });
  // As docs/health.md and docs/metrics.md print them.
  cpSync('test/e2e/docs/health', join(app, 'src/health'), { recursive: true });
  cpSync('test/e2e/docs/metrics', join(app, 'src/metrics-page'), { recursive: true });
  // As docs/dashboard.md prints it.
  cpSync('test/e2e/docs/dashboard', join(app, 'src/dashboard-page'), { recursive: true });
  // As docs/recipes.md prints them.
  cpSync('test/e2e/docs/recipes/handlers-that-compute', join(app, 'src'), { recursive: true });
  // As docs/tracing.md prints them, with an exporter of one's own in the place that the page names.
  cpSync('test/e2e/docs/tracing', join(app, 'src/tracing-page'), { recursive: true });
  const module = readFileSync('test/e2e/docs/tracing/tracing.module.ts', 'utf8')
    .replace('new ConsoleSpanExporter()', 'exporter')
    .replace('ConsoleSpanExporter', 'InMemorySpanExporter')
    .replace('const provider', 'export const exporter = new InMemorySpanExporter();\n$&');
  writeFileSync(join(app, 'src/tracing-page/tracing.module.ts'), module);
  if (fixture === 'nest12-esm') {
    write(join(app, 'runners/vitest'), printedSpecs('Vitest'));
    write(join(app, 'src/node'), printedSpecs('node:test'));
  }
  await run('npm', [...INSTALL, tarball, ...tracingSdk()], app, { timeout: 170_000 });
  // Types are for the tests to check.
  await run(process.execPath, [TSC, '--noCheck'], app);
  return app;
}

/** The packages that docs/tracing.md says to install on this Node. */
function tracingSdk(): string[] {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
  const node = major > 22 || (major === 22 && minor >= 15) ? 'Node 22.15 and later' : 'Node 20';
  const page = readFileSync('docs/tracing.md', 'utf8');
  return page
    .split(`On ${node}:`)[1]!
    .match(/^npm install (.*)$/m)![1]!
    .split(' ');
}

function write(to: string, files: Map<string, string>): void {
  mkdirSync(to);
  for (const [name, text] of files) writeFileSync(join(to, name), text);
}

/**
 * bull-board's module for Nest is CommonJS, and Nest 12 is not: TypeScript's `node16` knows nothing of a Node that can require such a package.
 * The types of piscina import its package.json.
 */
const SAID_OF_OTHERS = /^node_modules\/(@bull-board\/nestjs|piscina)\/.*$/gm;

/** Fails with what each of these ways says that does not compile. */
async function compiles(app: string, ways: readonly (readonly [module: string, resolution: string])[]): Promise<void> {
  const said: Record<string, string> = {};
  for (const [module, resolution] of ways) {
    const args = [TSC, '--noEmit', '--module', module, '--moduleResolution', resolution];
    await run(process.execPath, args, app).catch(({ message }) => {
      const ours = message.replaceAll(SAID_OF_OTHERS, '');
      if (ours.includes('error TS')) said[resolution] = ours;
    });
  }
  expect(said).toEqual({});
}

/** The one with Redis has no worker. */
async function isWatched(app: string): Promise<void> {
  const told = async (url: string) =>
    (await run(process.execPath, ['dist/watched.js'], app, { env: { REDIS_URL: url } })).trim().split('\n');
  const up = ['live 200 ok', 'ready 200 ok', 'jobs 503 error', 'metrics 200 scheduled_queue_redis_up 1'];
  expect(await told(process.env.TEST_REDIS_URL!)).toEqual(up);
  const away = ['live 200 ok', 'ready 503 error', 'jobs 503 error', 'metrics 200 scheduled_queue_redis_up 0'];
  expect(await told('redis://127.0.0.1:1')).toEqual(away);
}

async function hasBoard(app: string): Promise<void> {
  const output = await run(process.execPath, ['dist/board.js'], app, { env: redis() });
  expect(output.trim().split('\n')).toEqual(['stranger 401', 'delayed {"to":7}', 'promoted 204', 'edited 405']);
  // What is not installed cannot be loaded.
  expect(['bull', 'bullmq'].filter((name) => existsSync(join(app, 'node_modules', name)))).toEqual([]);
}

/** An endless loop in a thread is ended and tried again, while a thumbnail is made in another one. */
async function computes(app: string): Promise<void> {
  const output = await run(process.execPath, ['dist/computed.js'], app, { env: redis() });
  expect(output.trim().split('\n')).toEqual([
    'attempt 1 failed: JobTimeoutError',
    'attempt 2 failed: JobTimeoutError',
    'photo 0,2,8,10',
    'closed',
  ]);
}

/** A request schedules a job, whose handler makes a span of its own after an await. */
async function isTraced(app: string): Promise<void> {
  const output = await run(process.execPath, ['dist/traced.js'], app, {
    env: { REDIS_URL: process.env.TEST_REDIS_URL! },
  });
  const { id, spans } = JSON.parse(output) as { id: string; spans: unknown[] };
  expect(spans).toEqual([
    { name: 'process default', kind: 'CONSUMER', parent: 'send default', links: ['send default'], job: id },
    { name: 'request', kind: 'INTERNAL', links: [] },
    { name: 'send default', kind: 'PRODUCER', parent: 'request', links: [], job: id },
    { name: 'smtp', kind: 'INTERNAL', parent: 'process default', links: [] },
  ]);
}

function redis(): Record<string, string> {
  return { REDIS: process.env.TEST_REDIS_URL!, PREFIX: `t${randomBytes(6).toString('hex')}` };
}

/** The lines, sorted: jobs that are due together end in any order. */
function lines(output: string): string[] {
  return output.trim().split('\n').sort();
}

/** Runs a program to its end, and answers with what it wrote; fails with all of that where it does not end well. */
async function run(
  program: string,
  args: string[],
  cwd: string,
  { env: more = {}, timeout = 60_000 }: { env?: Record<string, string>; timeout?: number } = {},
): Promise<string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_ENV$|JEST_WORKER_ID$)/i.test(name) || NPM_SETTINGS.test(name),
  );
  const env = { ...Object.fromEntries(kept), ...more };
  try {
    return (await promisify(execFile)(program, args, { cwd, env, timeout })).stdout;
  } catch (error) {
    const { message, killed, stdout, stderr } = error as Error & { killed?: boolean; stdout?: string; stderr?: string };
    // The message holds the command and stderr.
    throw new Error(
      [killed ? `Not ended after ${timeout} ms: ${program} ${args.join(' ')}\n${stderr}` : message, stdout].join('\n'),
    );
  }
}
