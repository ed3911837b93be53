import { typeOf, unitOf } from './kinds.mjs';

/** A TypeScript file with, for each script, its arguments by name, its answer, and a function that binds the script to a queue's keys. */
export function emitTypes(contracts) {
  return `// Made by scripts/embed-lua.mjs from the headers of lib/store/redis/scripts; change these and run \`npm run embed\`.
import type { QueueKeys } from '../keys.js';
import type { BoundScript, NumberedScript, ScriptArgument } from './bound-script.js';
${contracts.map(emitContract).join('')}`;
}

function emitContract(contract) {
  const name = pascal(contract.script);
  const type = `${contract.isNumbered ? 'NumberedScript' : 'BoundScript'}<${name}Arguments, ${name}Reply>`;
  return `
${comment(describe(contract), '')}
${emitArguments(contract, name)}

export type ${name}Reply = ${emitReply(contract)};

${emitEncoder(contract, name)}
/** Binds the script to the keys of a queue. */
export const ${camel(contract.script)}Script = (${emitParameters(contract)}): ${type} => ({
  name: '${contract.script}',
  keys: [${emitKeys(contract)}],
  encode: encode${name},${contract.isNumbered ? '\n  isNumbered: true,' : ''}
});
`;
}

function describe({ prose, returns, isNumbered, repeat }) {
  const repeated = [isNumbered ? 'A repeated call is answered from its receipt.' : '', repeat ? sentence(repeat) : ''];
  return [
    sentence(prose.slice(prose.indexOf(': ') + 2)),
    returns.prose && `Answers: ${returns.prose}`,
    ...repeated.filter(Boolean),
  ];
}

function emitArguments(contract, name) {
  const fields = [
    ...ownArguments(contract).map(({ name, kind, prose }) => {
      const unit = unitOf(kind);
      return [name, typeOf(kind), [prose, unit && !prose.includes(unit) && `(${unit})`].filter(Boolean).join(' ')];
    }),
    ...contract.lists.map(({ name, fields, form, prose }) => {
      const type =
        form === 'columns'
          ? `{ ${fields.map((field) => `${field}: readonly ScriptArgument[]`).join('; ')} }`
          : 'readonly ScriptArgument[]';
      const rows = form === 'columns' || fields.length === 1 ? '' : ` Flat rows: ${fields.join(', ')}.`;
      return [name, type, `${sentence(prose)}${rows}`];
    }),
  ];
  if (fields.length === 0) return `export type ${name}Arguments = Record<string, never>;`;
  const lines = fields.map(([field, type, prose]) => `${comment([prose], '  ')}\n  ${field}: ${type};\n`);
  return `export interface ${name}Arguments {\n${lines.join('')}}`;
}

function emitReply({ returns, isNumbered }) {
  if (returns.kind) return isNumbered ? `[status: string, now: string, ${typeOf(returns.kind)}]` : typeOf(returns.kind);
  const fields = returns.fields.map(({ name, kind, isRest, isOptional }) => {
    const type = typeOf(kind);
    return isRest ? `...${name}: ${type}` : `${name}${isOptional ? '?' : ''}: ${type}`;
  });
  return `[${[...(isNumbered ? ['status: string', 'now: string'] : []), ...fields].join(', ')}]`;
}

/** What a reply must look like at least: see reply-shape.ts beside the scripts. */
export function emitReplyShape({ returns, isNumbered }) {
  const depthOf = (kind) => Math.max(...kind.split(' | ').map((one) => one.split('[]').length - 1));
  if (returns.kind && !isNumbered) return `{ depth: ${depthOf(returns.kind)} }`;
  const fields = returns.fields ?? [returns];
  const own = fields.filter(({ isRest }) => !isRest).map(({ kind }) => depthOf(kind));
  const rest = fields.find(({ isRest }) => isRest);
  const least = fields.filter(({ isRest, isOptional }) => !isRest && !isOptional).length;
  const texts = [
    `fields: [${own.join(', ')}]`,
    `least: ${least}`,
    rest && `rest: ${depthOf(rest.kind) - 1}`,
    isNumbered && 'isNumbered: true',
  ];
  return `{ ${texts.filter(Boolean).join(', ')} }`;
}

/** One array, in the order of ARGV. */
function emitEncoder(contract, name) {
  const values = [
    ...ownArguments(contract).map(({ name, kind }) => (kind === 'flag' ? `a.${name} ? 1 : 0` : `a.${name}`)),
    ...contract.lists.flatMap(({ name, fields, form }) => {
      if (form === 'tail') return [`...a.${name}`];
      if (form === 'columns')
        return [`a.${name}.${fields[0]}.length`, ...fields.map((field) => `...a.${name}.${field}`)];
      return [fields.length === 1 ? `a.${name}.length` : `a.${name}.length / ${fields.length}`, `...a.${name}`];
    }),
  ];
  const parameter = values.length === 0 ? '' : `a: ${name}Arguments`;
  return `const encode${name} = (${parameter}): ScriptArgument[] => [${list(values)}];\n`;
}

function emitParameters(contract) {
  const own = keysOf(contract);
  const needsOnlyBase = own.every((key) => !isFixed(key) || !TABLE.has(key));
  const names = [...new Set(own.flatMap((key) => [...key.matchAll(/<(\w+)>/g)].map(([, name]) => name)))];
  const keys = needsOnlyBase ? "keys: Pick<QueueKeys, 'base'>" : 'keys: QueueKeys';
  return names.length === 0 ? keys : `${keys}, names: { ${names.map((name) => `${name}: string`).join('; ')} }`;
}

/** The receipt is added by the caller, who has a name for it. */
function emitKeys(contract) {
  return list(
    keysOf(contract).map((key) => {
      if (isFixed(key)) return TABLE.has(key) ? `keys.${key}` : `\`\${keys.base}${key}\``;
      const [, begin, name] = key.match(/^(.*)<(\w+)>$/);
      return begin === '' ? `names.${name}` : `\`\${keys.base}${begin}\${names.${name}}\``;
    }),
    '  ',
  );
}

/** Keys that no queue has for good. */
const TABLE = { has: (key) => key !== 'trial' };
const isFixed = (key) => !key.includes('<');
const keysOf = ({ keys, node }) => [
  ...(node ? [node] : []),
  ...keys.filter(({ isShared }) => !isShared).map(({ name }) => name),
];
const ownArguments = ({ args }) => args.filter(({ isShared }) => !isShared);

function list(values, indent = '') {
  const line = values.join(', ');
  return line.length < 80 ? line : `\n${values.map((value) => `${indent}  ${value},\n`).join('')}${indent}`;
}

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.…]$/.test(text) ? '' : '.'}`;
const camel = (text) => text.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
const pascal = (text) => camel(`-${text}`);

const COLUMNS = 120;

function wrap(text, width) {
  const lines = [];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (lines.length === 0 || line.length > width) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

function comment(texts, indent) {
  const said = texts.filter(Boolean).map((text) => sentence(text.replaceAll('*/', '* /')));
  if (said.length === 1 && said[0].length < COLUMNS - 10) return `${indent}/** ${said[0]} */`;
  const lines = said.flatMap((text) => wrap(text, COLUMNS - 5));
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */`;
}
