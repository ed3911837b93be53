import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

// The table of log lines in docs/operations.md, compared with every call of a log in lib/.

/** Messages that are no literals of their call: what the call is given, the file that makes them, and words of the literal there. */
const MADE_ELSEWHERE = [
  [
    'this.lineOf(handler, declared.linesOf(handler.queue, handler.name, nowMs))',
    'nest/lifecycle/start-log.ts',
    'Mapped {',
  ],
  ['waitingLine(waitedFor, atMostMs)', 'worker/handle/drain-report.ts', 'Waiting up to '],
  ['drained.line', 'worker/handle/drain-report.ts', 'Done waiting for '],
  ['sentence', 'nest/handlers/handler.explorer.ts', 'so no method handles this job'],
  ['sentence', 'nest/events/event.explorer.ts', 'so it hears no events'],
  ['sentence', 'nest/lifecycle/start-warnings.ts', 'which no handler and no definition'],
  ['sentence', 'nest/lifecycle/start-warnings.ts', 'where seconds are meant'],
  ['sentence', 'nest/lifecycle/start-warnings.ts', 'counts jobs. Raise it'],
  ['trouble', 'store/redis/checks/server-info.ts', 'Redis is of version '],
  ['trouble', 'store/redis/checks/server-info.ts', 'no release of this library'],
  ['trouble', 'store/redis/checks/server-info.ts', 'Redis has the eviction policy '],
  ['sentence', 'nest/job-overrides.ts', 'which no handler of this process handles'],
] as const;

/** Those of `core/log.ts`. */
const LEVELS = ['log', 'warn', 'error'];

/** A row may break a message off after so many of its fixed characters, the last of them so many in one piece. */
const AT_LEAST = 20;
const LAST_AT_LEAST = 8;

interface Message {
  levels: string[];
  /** The fixed parts of the literal, with anything between them. */
  parts: string[];
  text: string;
}

interface Row {
  levels: string[];
  lines: string[];
}

const files = readdirSync('lib', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const messages = [...new Map(files.flatMap(messagesOf).map((message) => [JSON.stringify(message), message])).values()];
const rows = rowsOfTable();

it('finds the calls and the rows', () => {
  expect(messages.map(({ text }) => text)).toContain("The … of queue '…' goes on.");
  expect(messages.length).toBeGreaterThan(45);
  expect(rows.length).toBeGreaterThan(45);
});

describe('docs/operations.md has a row for each line that is logged, with its level:', () => {
  it.each(messages.map((message) => [message.text, message] as const))('%s', (_, message) => {
    const levels = rows.filter(({ lines }) => lines.some((line) => tells(line, message))).flatMap((row) => row.levels);
    expect(levels).toEqual(expect.arrayContaining(message.levels));
  });
});

it('docs/operations.md has no row for a line that is not logged', () => {
  const isLogged = ({ lines, levels }: Row) =>
    messages.some((message) => tells(lines[0]!, message) && levels.some((level) => message.levels.includes(level)));
  expect(rows.filter((row) => !isLogged(row))).toEqual([]);
});

/** Whether this line of the table is that message, of which it may leave out the end. */
function tells(line: string, { parts }: Message): boolean {
  if (matches(parts, line)) return true;
  return line.endsWith('…') && beginningsOf(parts).some((beginning) => matches(beginning, line.slice(0, -1)));
}

function matches(parts: readonly string[], line: string): boolean {
  const pattern = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*?');
  return new RegExp(`^${pattern}$`).test(line);
}

/** Where a row may break a message off: not soon, and not where the last words could be anything. */
function beginningsOf(parts: readonly string[]): string[][] {
  return parts.flatMap((part, i) => {
    const before = parts.slice(0, i);
    const beginnings: string[][] = [];
    for (let end = Math.min(part.length, LAST_AT_LEAST); end > 0 && end <= part.length; end++)
      if (before.join('').length + end >= AT_LEAST) beginnings.push([...before, part.slice(0, end)]);
    return beginnings;
  });
}

function messagesOf(file: string): Message[] {
  const source = parse(file);
  return nodesOf(source).flatMap((node) => {
    const levels = ts.isCallExpression(node) ? levelsOf(node.expression, source) : [];
    if (levels.length === 0) return [];
    const [message] = (node as ts.CallExpression).arguments;
    const own = message && literalOf(message, source);
    if (own) return [messageOf(levels, own)];
    const made = MADE_ELSEWHERE.filter(([given]) => given === message?.getText(source));
    if (made.length === 0)
      throw new Error(`lib/${file}: where is ${message?.getText(source)} made? See MADE_ELSEWHERE.`);
    return made.flatMap(([, maker, words]) => literalsWith(maker, words).map((parts) => messageOf(levels, parts)));
  });
}

/** `x.log.warn` and `LOG.warn` are calls of the level warn, and `x.log[a ? 'log' : 'warn']` of both. */
function levelsOf(called: ts.Expression, source: ts.SourceFile): string[] {
  if (!ts.isPropertyAccessExpression(called) && !ts.isElementAccessExpression(called)) return [];
  if (!/(^|\.)(log|LOG)$/.test(called.expression.getText(source))) return [];
  if (ts.isPropertyAccessExpression(called)) return [called.name.text].filter((name) => LEVELS.includes(name));
  return nodesOf(called.argumentExpression)
    .filter(ts.isStringLiteral)
    .map(({ text }) => text);
}

function literalsWith(file: string, words: string): string[][] {
  const source = parse(file);
  const found = nodesOf(source)
    .filter((node) => ts.isTemplateExpression(node) || ts.isStringLiteralLike(node))
    .map((node) => literalOf(node as ts.Expression, source)!)
    .filter((parts) => parts.join('…').includes(words));
  if (found.length === 0) throw new Error(`lib/${file}: no literal there says '${words}'.`);
  return found;
}

/** The fixed parts of a string or a template; a constant that is one stands for it. */
function literalOf(node: ts.Node, source: ts.SourceFile): string[] | undefined {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isIdentifier(node)) return constantOf(node, source);
  if (!ts.isTemplateExpression(node)) return undefined;
  const parts = [node.head.text];
  for (const { expression, literal } of node.templateSpans) {
    const [first = '', ...others] = literalOf(expression, source) ?? ['', ''];
    parts[parts.length - 1] += first;
    parts.push(...others);
    parts[parts.length - 1] += literal.text;
  }
  return parts;
}

/** Of the function or file that the name stands in, or of one around it. */
function constantOf(name: ts.Identifier, source: ts.SourceFile): string[] | undefined {
  for (let scope: ts.Node = name.parent; scope; scope = scope.parent) {
    if (!ts.isBlock(scope) && !ts.isSourceFile(scope)) continue;
    const declared = scope.statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => [...declarationList.declarations])
      .find((one) => one.name.getText(source) === name.text && one.end < name.pos);
    if (declared?.initializer) return literalOf(declared.initializer, source);
  }
  return undefined;
}

function messageOf(levels: string[], parts: string[]): Message {
  return { levels, parts, text: parts.join('…') };
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(`lib/${file}`, 'utf8'), ts.ScriptTarget.Latest, true);
}

function nodesOf(node: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (one: ts.Node) => {
    nodes.push(one);
    ts.forEachChild(one, visit);
  };
  visit(node);
  return nodes;
}

/** In the second cells, what stands in backquotes. */
function rowsOfTable(): Row[] {
  const section = readFileSync('docs/operations.md', 'utf8').split('## Log lines\n')[1]!.split(/^#/m)[0]!;
  return [...section.matchAll(/^\| ((?:log|warn|error)(?:, \w+)*) \| (.*?) \| .* \|$/gm)].map(([, levels, cell]) => ({
    levels: levels!.split(', '),
    lines: [...cell!.matchAll(/`(.*?)`/g)].map(([, line]) => line!),
  }));
}
