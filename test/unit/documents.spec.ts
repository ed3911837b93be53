import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { shown } from '../../bench/report/numbers.js';

const { countLines } = (await import('../../scripts/count-lines.mjs' as string)) as {
  countLines(root: URL): { room: string; ts: number; lua: number }[];
};

// What the documents say of the code, compared with the code. The options: readme.spec.ts; what the README says first, and of speed: front-door.spec.ts.

const files: string[] = JSON.parse(read('package.json')).files;
const packaged = files.filter((name) => !name.startsWith('!'));
/** Pages that the repository alone has. Only each other and the shelf lead to them. */
const unpackaged = files.filter((name) => /^!.*\.md$/.test(name)).map((name) => name.slice(1));
const pages = ['README.md', ...packaged.flatMap(pagesIn)];

/** The entry points of the package, and a name that each exports. */
const ENTRY_POINTS = [
  ['lib/index.ts', 'ScheduledQueueProducer'],
  ['lib/bull-board/index.ts', 'ScheduledQueueAdapter'],
  ['lib/msgpack/index.ts', 'messagePackCodec'],
  ['lib/opentelemetry/index.ts', 'ScheduledQueueTracingModule'],
  ['lib/prometheus/index.ts', 'ScheduledQueueMetricsModule'],
  ['lib/terminus/index.ts', 'ScheduledQueueHealthIndicator'],
  ['lib/testing/index.ts', 'ScheduledQueueTester'],
] as const;

it('the entry points are those of package.json', () => {
  const sources = Object.keys(JSON.parse(read('package.json')).exports)
    .filter((name) => !name.endsWith('.json'))
    .map((name) => posix.join('lib', name, 'index.ts'));
  expect(ENTRY_POINTS.map(([path]) => path)).toEqual(sources);
});

it.each(ENTRY_POINTS)('every name that %s exports occurs in docs/api.md', (path, one) => {
  const words = new Set(read('docs/api.md').match(/\w+/g));
  const exported = exportedNames(path);
  expect(exported).toContain(one);
  expect(exported.filter((name) => !words.has(name))).toEqual([]);
});

it.each(pages)('every link of %s leads to something that is in the package', (page) => {
  const links = [...read(page).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target]) => target!);
  // Pictures are in the repository, where the README is read; so its links, too, may lead there.
  const targets = links.filter((link) => !/^https?:|\.png$/.test(link)).map((link) => posix.join(page, '..', link));
  const always = ['README.md', 'LICENSE', 'package.json'];
  const mayLeadOut = ['README.md', 'docs/README.md', ...unpackaged].includes(page);
  const isPackaged = (target: string) =>
    [...always, ...packaged].some((name) => target === name || target.startsWith(`${name}/`)) &&
    !unpackaged.includes(target);
  const missing = targets.filter((target) => !existsSync(target) || !(mayLeadOut || isPackaged(target)));
  expect(missing).toEqual([]);
});

it.each(pages)('every link of %s to a section leads to one that is there', (page) => {
  const links = read(page).matchAll(/\]\(([^)#\s:]*\.md)?#([^)]+)\)/g);
  const missing = [...links].filter(([, target, section]) => {
    const there = target ? posix.join(page, '..', target) : page;
    return existsSync(there) && !sectionsOf(there).has(section!);
  });
  expect(missing.map(([link]) => link)).toEqual([]);
});

it('the shelf, docs/README.md, has every page of docs', () => {
  const linked = [...read('docs/README.md').matchAll(/\]\(([^)#]+)\)/g)].map(([, target]) => `docs/${target}`);
  const there = pagesIn('docs').filter((page) => page !== 'docs/README.md');
  expect(there.filter((page) => !linked.includes(page))).toEqual([]);
});

it.each(['troubleshooting', 'production-checklist'])(
  'docs/%s.md quotes log lines as the table of docs/operations.md has them',
  (page) => {
    const table = read('docs/operations.md').split('## Log lines\n')[1]!;
    const quotes = [...read(`docs/${page}.md`).matchAll(/`([A-Z][^`]* [^`]*…[^`]*)`/g)].map(([, quote]) => quote!);
    expect(quotes).toContain("Connected to redis://… (prefix '…', role '…').");
    expect(quotes.filter((quote) => !table.includes(quote.replace(/…$/, '')))).toEqual([]);
  },
);

it('every section of a page that a message names is there', () => {
  const files = readdirSync('lib', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const named = files.flatMap((file) => [...read(`lib/${file}`).matchAll(/(docs\/[\w-]+\.md), "([^"]+)"/g)]);
  expect(named.map(([words]) => words)).toContain('docs/operations.md, "Processes that disagree"');
  const missing = named.filter(([, page, title]) => !new RegExp(`^#+ ${title}$`, 'm').test(read(page!)));
  expect(missing.map(([words]) => words)).toEqual([]);
});

it('docs/architecture.md says how many lines each folder of lib has, to a twentieth', () => {
  const counted = countLines(new URL('../../', import.meta.url));
  const rows = [...read('docs/architecture.md').matchAll(/^\| ([\w./-]+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)];
  const printed = rows.map(([, room, ...numbers]) => [room!, ...numbers.map(Number)] as const);
  expect(printed.map(([room]) => room)).toEqual([...counted.map(({ room }) => room), 'all']);
  for (const [i, { ts, lua }] of counted.entries()) {
    const most = 10 + (ts + lua) / 20;
    const [room, ofTypeScript, ofLua, all] = printed[i]!;
    expect([room, all]).toEqual([room, ofTypeScript! + ofLua!]);
    expect({ room, isNear: Math.abs(all! - ts - lua) <= most }).toEqual({ room, isNear: true });
  }
  const sums = [1, 2, 3].map((column) => printed.slice(0, -1).reduce((sum, row) => sum + Number(row[column]), 0));
  expect(printed.at(-1)).toEqual(['all', ...sums]);
});

describe('docs/errors.md', () => {
  it('has a row for each error code, with its class', () => {
    const sources = ['lib/core/errors.ts', 'lib/testing/errors.ts'].map(read).join('\n');
    const classes = sources.matchAll(/class (\w+) extends ScheduledQueueError \{\s+readonly code = '(\w+)'/g);
    const declared = [...classes].map(([, name, code]) => `${code} ${name}`);
    expect(declared).toContain('QUEUE_CLOSED QueueClosedError');
    const rows = [...read('docs/errors.md').matchAll(/^\| `([A-Z_]+)` \| `(\w+)` \|/gm)];
    expect(rows.map(([, code, name]) => `${code} ${name}`).sort()).toEqual(declared.sort());
  });

  it('quotes messages that the test kit has', () => {
    const kit = readdirSync('lib/testing', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => read(`lib/testing/${file}`))
      .join('\n');
    const section = read('docs/errors.md').split('## In tests\n')[1]!.split(/^#/m)[0]!;
    const cells = [...section.matchAll(/^\| (`.*?) \|/gm)].map(([, cell]) => cell!);
    const quoted = cells.flatMap((cell) => [...cell.matchAll(/`(.*?)`/g)].map(([, text]) => text!));
    expect(quoted).toContain('Expected job');
    expect(quoted.filter((text) => !kit.includes(text))).toEqual([]);
  });

  it('has a row for each code of explain', () => {
    const [, union] = read('lib/api/inspection/explanation.ts').match(/\n {2}code:(.*?);/s)!;
    expect(rowsOf('My job does not run')).toEqual(literals(union!));
  });

  it('has a row for each reason of a dead letter', () => {
    const [, union] = read('lib/core/job/events.ts').match(/type DeadReason =(.*?)(?:\/\*\*|$(?![\s\S]))/s)!;
    expect(rowsOf('Dead letters')).toEqual(literals(union!));
  });
});

describe('every file that a page about the design names is there', () => {
  const files = readdirSync('lib', { recursive: true, encoding: 'utf8' }).map((file) => `lib/${file}`);
  files.push(...readdirSync('test/unit', { encoding: 'utf8' }).map((file) => `test/unit/${file}`));
  files.push(...readdirSync('scripts', { recursive: true, encoding: 'utf8' }).map((file) => `scripts/${file}`));

  it.each(['architecture', 'redis-design', 'calls-and-replays', 'worker-design', 'glossary'])('docs/%s.md', (page) => {
    const named = [...read(`docs/${page}.md`).matchAll(/`([\w./-]+\.(?:ts|lua|mjs))`/g)].map(([, name]) => name!);
    expect(named.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual([]);
  });
});

describe('docs/scaling.md', () => {
  const page = read('docs/scaling.md');

  it('has figures as the benchmarks have measured them', () => {
    const rows = [...page.matchAll(/^\| .* \| ([\d .]*\d)\D* \| `(\w+)` `(\w+)` \|$/gm)];
    const printed = rows.map(([, figure, benchmark, key]) => `${benchmark} ${key}: ${figure}`);
    expect(printed).toHaveLength(20);
    expect(printed).toEqual(
      rows.map(([, , benchmark, key]) => `${benchmark} ${key}: ${shown(measured(benchmark!, key!).median)}`),
    );
  });

  it('reckons with what a waiting job takes', () => {
    const rows = [...page.matchAll(/^\| 10(\S) \| ([\d.]+) GB \| ([\d ]+) \| ([\d ]+) \|$/gm)].map(
      ([, power, gigabytes, shards, queues]) => [
        10 ** ('⁰¹²³⁴⁵⁶⁷⁸⁹'.indexOf(power!) as number),
        Number(gigabytes),
        ...[shards!, queues!].map((text) => Number(text.replace(' ', ''))),
      ],
    );
    expect(rows.map(([jobs]) => jobs)).toEqual([1e6, 1e7, 1e8, 1e9]);
    for (const [jobs, gigabytes, shards, queues] of rows as [number, number, number, number][]) {
      expect(gigabytes / ((jobs * measured('scale', 'bytes').median) / 1e9)).toBeCloseTo(1, 1);
      expect([shards, queues]).toEqual([Math.ceil(jobs / 1e7), jobs / 5e5]);
    }
  });
});

function read(path: string): string {
  return readFileSync(path, 'utf8');
}

/** What a file exports, by lists or where it is declared. */
function exportedNames(path: string): string[] {
  const lists = [...read(path).matchAll(/^export (?:type )?\{(.*?)\}/gms)].flatMap(([, names]) => names!.split(','));
  const declared = read(path).matchAll(/^export (?:const|class|function|interface|type) (\w+)/gm);
  const listed = lists.map((name) => name.replace('type ', '').trim()).filter(Boolean);
  return [...listed, ...[...declared].map(([, name]) => name!)];
}

/** The pages in a file or a folder. */
function pagesIn(name: string): string[] {
  if (name.endsWith('.md')) return [name];
  if (name !== 'docs') return [];
  const files = readdirSync(name, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.md')).map((file) => `${name}/${file}`);
}

/** The names that links give to the sections of a page. */
function sectionsOf(page: string): Set<string> {
  const headings = read(page)
    .replaceAll(/^```.*?^```/gms, '')
    .matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, text]) =>
      text!
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** The first cells of the first table in a section of docs/errors.md. */
function rowsOf(title: string): string[] {
  const section = read('docs/errors.md').split(`## ${title}\n`)[1]!.split(/^#/m)[0]!;
  return [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, cell]) => cell!).sort();
}

function literals(union: string): string[] {
  return [...union.matchAll(/'([a-z-]+)'/g)].map(([, literal]) => literal!).sort();
}

/** A figure over the rounds of its benchmark. */
function measured(
  benchmark: string,
  figure: string,
  contestant = 'ours',
): { median: number; min: number; max: number } {
  const { figures } = JSON.parse(read('bench/results/results.json'))[benchmark];
  return figures.find(({ key }: { key: string }) => key === figure).by[contestant];
}
