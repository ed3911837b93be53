// How many lines of lib are written by hand: `npm run lines`, or `npm run lines -- <folder of another checkout>`. A line counts that holds
// code; comments, blank lines and files that are made do not. docs/architecture.md prints the table.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';

const MADE = /^\/\/ Made by /;

/** Of each floor of lib, and of what production does not load, how many lines of TypeScript and of Lua there are. */
export function countLines(root) {
  const lib = new URL('lib/', root);
  const rows = new Map();
  for (const file of readdirSync(lib, { recursive: true }).sort()) {
    const language = /\.(ts|lua)$/.exec(file)?.[1];
    if (!language) continue;
    const text = readFileSync(new URL(file, lib), 'utf8');
    if (MADE.test(text)) continue;
    const room = roomOf(file);
    const row = rows.get(room) ?? { room, ts: 0, lua: 0 };
    row[language] += language === 'ts' ? linesOfTypeScript(text) : linesOfLua(text);
    rows.set(room, row);
  }
  return [...rows.values()].sort((a, b) => (a.room < b.room ? -1 : 1));
}

/** `store` has its contract in files of its own, and below them what is as large as all other floors; the test kit has a Redis of its own. */
function roomOf(file) {
  const [floor, below, more] = file.split('/');
  if (below === undefined) return 'index.ts';
  return more !== undefined && below === 'redis' ? `${floor}/${below}` : floor;
}

function linesOfTypeScript(text) {
  const source = ts.createSourceFile('counted.ts', text, ts.ScriptTarget.Latest, true);
  const lines = new Set();
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    for (const child of children) visit(child);
    if (children.length > 0 || node.kind === ts.SyntaxKind.EndOfFileToken || node.getStart(source) === node.getEnd())
      return;
    for (let line = lineOf(node.getStart(source)); line <= lineOf(node.getEnd()); line++) lines.add(line);
  };
  visit(source);
  return lines.size;
}

function linesOfLua(text) {
  return text.split('\n').filter((line) => /\S/.test(line) && !/^\s*--/.test(line)).length;
}

export function tableOf(rows) {
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const line = ({ room, ts, lua }) => `| ${room} | ${ts} | ${lua} | ${ts + lua} |`;
  const all = { room: 'all', ts: sum('ts'), lua: sum('lua') };
  return ['| folder of lib | TypeScript | Lua | lines |', '|---|---|---|---|', ...[...rows, all].map(line)].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const elsewhere = process.argv[2];
  console.log(
    tableOf(countLines(elsewhere ? pathToFileURL(`${resolve(elsewhere)}/`) : new URL('../', import.meta.url))),
  );
}
