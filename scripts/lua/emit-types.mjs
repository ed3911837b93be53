import { typeOf } from './kinds.mjs';

/** An answer of so many fields is read by their names. */
const LONG_REPLY = 8;

/** A TypeScript file with, for each script, its arguments by name, its answer, and a function that binds the script to a queue's keys. */
export function emitTypes(contracts) {
  const body = contracts.map(emitContract).join('');
  const kinds = ['BoundScript', 'GivenArguments', 'NumberedScript', 'ScriptArgument'].filter((kind) =>
    body.includes(kind),
  );
  return `// Made by scripts/embed-lua.mjs from the headers of the scripts in this folder; change these and run \`npm run embed\`.
import type { QueueKeys } from '../../keys.js';
import type { ${kinds.join(', ')} } from '../bound-script.js';
${body}`;
}

function emitContract(contract) {
  const name = pascal(contract.script);
  const type = `${contract.isNumbered ? 'NumberedScript' : 'BoundScript'}<${name}Arguments, ${name}Reply>`;
  return `
/** See ${contract.script}.lua, which says what each of these is. */
${emitArguments(contract, name)}

export type ${name}Reply = ${emitReply(contract)};

${emitDecoder(contract, name)}${emitEncoder(contract, name)}
export const ${camel(contract.script)}Script = (${emitParameters(contract)}): ${type} => ({
  name: '${contract.script}',
  keys: [${emitKeys(contract)}],
  encode: encode${name},${contract.isNumbered ? '\n  isNumbered: true,' : ''}
});
`;
}

function emitArguments(contract, name) {
  const fields = [
    ...ownArguments(contract).map(({ name, kind }) => [name, typeOf(kind)]),
    ...contract.lists.map(({ name, fields, form }) => [
      name,
      form === 'columns'
        ? `{ ${fields.map((field) => `${field}: readonly ScriptArgument[]`).join('; ')} }`
        : 'readonly ScriptArgument[]',
      form !== 'columns' && fields.length > 1 && `Flat rows: ${fields.join(', ')}.`,
    ]),
  ];
  if (fields.length === 0) return `export type ${name}Arguments = Record<string, never>;`;
  const lines = fields.map(([field, type, rows]) => `${rows ? `  /** ${rows} */\n` : ''}  ${field}: ${type};\n`);
  return `export interface ${name}Arguments {\n${lines.join('')}}`;
}

/**
 * Gives the fields of a long answer their names, and says where the last list of it begins. By index: taking an answer apart by a pattern
 * calls an iterator for each of its fields, of which a turn has three a job.
 */
function emitDecoder({ returns, isNumbered }, name) {
  if (!returns.fields || returns.fields.length < LONG_REPLY) return '';
  const before = isNumbered ? ['status', 'now'] : [];
  const at = (i, { isRest, kind } = {}) => (isRest ? `r.slice(${i}) as ${typeOf(kind)}` : `r[${i}]`);
  const entries = [
    ...before.map((field, i) => `${field}: ${at(i)}`),
    ...returns.fields.map((field, i) => `${field.name}: ${at(before.length + i, field)}`),
  ];
  const rest = returns.fields.find(({ isRest }) => isRest);
  const restAt = rest ? `\nexport const ${snake(name)}_${snake(rest.name)}_AT = ${entries.length - 1};\n` : '';
  return `export const read${name}Reply = (r: ${name}Reply) => ({ ${entries.join(', ')} });\n${restAt}\n`;
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
  const optional = contract.lists.slice(contract.lists.findLastIndex(({ form }) => form !== 'list') + 1);
  const values = [
    ...contract.args
      .filter(({ isShared }) => !isShared)
      .map(({ name, kind, isGiven }) => `${isGiven ? 'given' : 'a'}.${name}${kind === 'flag' ? ' ? 1 : 0' : ''}`),
    ...contract.lists.slice(0, contract.lists.length - optional.length).flatMap(valuesOfList),
    ...optionalLists(optional),
  ];
  const hasGiven = contract.args.some(({ isGiven }) => isGiven);
  const parameters = [
    ...(values.length > 0
      ? [`${ownArguments(contract).length + contract.lists.length > 0 ? 'a' : '_'}: ${name}Arguments`]
      : []),
    ...(hasGiven ? ['given: GivenArguments'] : []),
  ];
  return `const encode${name} = (${parameters.join(', ')}): ScriptArgument[] => [${list(values)}];\n`;
}

function valuesOfList({ name, fields, form }) {
  if (form === 'tail') return [`...a.${name}`];
  if (form === 'columns') return [`a.${name}.${fields[0]}.length`, ...fields.map((field) => `...a.${name}.${field}`)];
  return [fields.length === 1 ? `a.${name}.length` : `a.${name}.length / ${fields.length}`, `...a.${name}`];
}

/** Lists of rows at the end: an argument costs Redis 1 300 instructions, so nothing is sent where all of them are empty. */
function optionalLists(lists) {
  if (lists.length === 0) return [];
  const areAllEmpty = `${lists.map(({ name }) => `a.${name}.length`).join(' + ')} === 0`;
  return [`...(${areAllEmpty} ? [] : [${list(lists.flatMap(valuesOfList), '  ')}])`];
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
/** Without those that the caller adds. */
const ownArguments = ({ args }) => args.filter(({ isShared, isGiven }) => !isShared && !isGiven);

function list(values, indent = '') {
  const line = values.join(', ');
  return line.length < 80 ? line : `\n${values.map((value) => `${indent}  ${value},\n`).join('')}${indent}`;
}

const camel = (text) => text.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
const pascal = (text) => camel(`-${text}`);
const snake = (text) => text.replace(/(?<!^)[A-Z]/g, '_$&').toUpperCase();
