import { basename } from 'node:path';
import { isArgumentKind, isReplyKind } from './kinds.mjs';
import { LuaProblem } from './problem.mjs';

/**
 * Arguments that every numbered call begins with, as lines of a header. `Caller` in lib/store/redis/calls writes them. `asText`: a number that scripts
 * only hand on, so that no call reads and prints it.
 */
const NUMBERED = [
  { name: 'base', kind: 'text', prose: 'what every key of the queue begins with' },
  { name: 'callNumber', kind: 'number', prose: 'number of the call', asText: true },
  { name: 'deadline', kind: 'epoch ms', prose: 'when the call expires, 0 = never' },
  { name: 'keepReceiptMs', kind: 'ms', prose: 'how long the receipt is kept', asText: true },
];
/** Arguments that are the same in all calls about a queue, which `Caller` adds: see `GivenArguments` in bound-script.ts. */
const GIVEN = {
  clustered: ['flag', 'whether Redis is a cluster'],
  'settings.stealAfterMs': ['ms', 'how late a job must be before any worker may take it from the one that it prefers'],
  'settings.keepEnded': [
    'text',
    "how many discarded and cancelled jobs are kept, and for how long (see parts/keep-ended.lua), '' = none",
  ],
};
const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
);
const RECEIPT = 'receipt:<caller>';

/**
 * Reads the header of a script: comment lines from the first line on. Prose comes first, "<script>: <what it does>"; then, each with
 * its prose behind a colon, which may go on in lines that are indented by three spaces:
 *
 *     @numbered                    the call has a number and a receipt: four arguments and a key that all such scripts share
 *     @keys <name>, <name>…        keys in the order of KEYS, as the table of keys.ts names them; `jobs` is `jobsKey` in the script
 *     @derived <name>, <name>…     keys that the script makes of `base` itself: each costs less than a declared one, and the receipt tells the slot
 *     @node <name>                 a key that only tells a cluster which node to ask
 *     @arg <name> <kind>: …        an argument, in the order of ARGV: text, payload (text or bytes), flag, number, count, bytes, ms, epoch ms, or words in quotes
 *     @arg <table>.<name> <kind>: … the same, as a field of a table: parts take the table, by one name. Its caller gives it by <name>
 *     @without <part>, <part>…     parts that parts of this script include, and that it never comes to: they are not sent with it, and where it came to
 *                                  one all the same it would stop with an error
 *     @given <name>, <name>…       arguments that the caller of numbered calls adds: those of GIVEN that the script uses
 *     @list <name> <field>, …: …   behind all @arg: how many rows, then their fields. `<name>From` is where the first list begins. Where all lists at the end
 *                                  are empty, nothing of them is sent: turn/settle/parse-lists.lua reads that
 *     @columns <name> <field>, …: … a list of which all first fields come first, then all second ones
 *     @tail <name> <field>, …: …   behind all @arg: rows without a number before them, to the end of ARGV
 *     @returns <name> <kind>, …: … the fields of the answer, of a numbered call behind status and time; or one kind
 *     @return <name> <kind>: …     one field of a long answer; all in their order, in the place of @returns
 *     @repeat …                    what sending it again does, beyond what a receipt answers
 */
export function readContract(file, lines) {
  const entries = entriesOf(lines);
  const contract = {
    script: basename(file, '.lua'),
    prose: '',
    isNumbered: false,
    keys: [],
    derived: [],
    args: [],
    lists: [],
    node: undefined,
    without: new Map(),
  };
  for (const entry of entries) {
    const fail = (text) => {
      throw new LuaProblem(file, entry.line, text);
    };
    if (entry.tag === undefined) contract.prose = entry.text;
    else if (TAGS[entry.tag]) TAGS[entry.tag](contract, entry, fail);
    else fail(`@${entry.tag} is unknown: expected one of ${Object.keys(TAGS).join(', ')}`);
  }
  checkWhole(file, contract);
  return contract;
}

const TAGS = {
  numbered(contract, { line }, fail) {
    if (contract.args.length > 0) fail('@numbered comes before all @arg, as its arguments do');
    contract.isNumbered = true;
    for (const argument of NUMBERED) contract.args.push({ ...argument, line, isShared: true });
  },
  keys(contract, { text, line }, fail) {
    for (const name of text.split(',').map((each) => each.trim())) {
      if (contract.keys.some((key) => key.name === name)) fail(`the key '${name}' is named twice: name it once`);
      contract.keys.push({ name, lua: luaNameOf(name), line });
    }
  },
  derived(contract, { text, line }, fail) {
    if (!contract.isNumbered)
      fail('@derived is for scripts that are @numbered: their receipt tells the slot, and they have `base`');
    for (const name of text.split(',').map((each) => each.trim()))
      contract.derived.push({ name, lua: luaNameOf(name), line });
  },
  node(contract, { text }, fail) {
    if (!/^\w+$/.test(text)) fail(`@node: got '${text}', expected the name of one key`);
    contract.node = text;
  },
  without(contract, { text, line }, fail) {
    for (const part of text.split(', ')) {
      if (contract.without.has(part)) fail(`${part} is named twice: name it once`);
      contract.without.set(part, line);
    }
  },
  arg(contract, { text, line }, fail) {
    addArgument(contract, splitProse(text, fail), { line }, fail);
  },
  given(contract, { text, line }, fail) {
    if (!contract.isNumbered) fail('@given is for scripts that are @numbered: their caller adds these arguments');
    for (const name of text.split(', ')) {
      const [kind, prose] =
        GIVEN[name] ?? fail(`@given: got '${name}', expected some of ${Object.keys(GIVEN).join(', ')}`);
      addArgument(contract, { spec: `${name} ${kind}`, prose }, { line, isGiven: true }, fail);
    }
  },
  list: (contract, entry, fail) => addList(contract, entry, fail, 'list'),
  columns: (contract, entry, fail) => addList(contract, entry, fail, 'columns'),
  tail: (contract, entry, fail) => addList(contract, entry, fail, 'tail'),
  returns(contract, { text }, fail) {
    const { spec } = splitProse(text, fail);
    contract.returns = readReply(spec, fail);
  },
  return(contract, { text }, fail) {
    const { spec } = splitProse(text, fail);
    const { fields } = readReply(spec, fail);
    if (!fields) fail(`@return: got '${spec}', expected a name and a kind`);
    contract.returns = { fields: [...(contract.returns?.fields ?? []), ...fields] };
  },
  repeat(contract, { text }) {
    contract.repeat = text;
  },
};

function addArgument(contract, { spec, prose }, more, fail) {
  const [, table, name, kind] =
    spec.match(/^(?:(\w+)\.)?(\w+) (.+)$/) ?? fail(`@arg: got '${spec}', expected a name and a kind`);
  for (const each of [table, name])
    if (KEYWORDS.has(each)) fail(`'${each}' is a word of Lua: give the argument another name`);
  if (!isArgumentKind(kind))
    fail(
      `'${name}' is of the kind '${kind}': expected text, payload, flag, number, count, bytes, ms, epoch ms or words in quotes`,
    );
  if (contract.args.some((arg) => arg.name === name)) fail(`the argument '${name}' is named twice: name it once`);
  if (contract.args.some((arg) => arg.name === table || (table === undefined && arg.table === name)))
    fail(`'${table ?? name}' would be an argument and a table of arguments: give one of the two another name`);
  if (contract.lists.length > 0) fail(`'${name}' comes behind a list: put all @arg before it`);
  contract.args.push({ name, table, kind, prose, ...more });
}

function addList(contract, { text, line }, fail, form) {
  const { spec, prose } = splitProse(text, fail);
  const [, name, fields] =
    spec.match(/^(\w+) (\w+(?:, \w+)*)$/) ?? fail(`@${form}: got '${spec}', expected a name and its fields`);
  if (contract.lists.some((list) => list.form === 'tail' || form === 'tail'))
    fail('@tail goes to the end of ARGV: it is the only list');
  contract.lists.push({ name, fields: fields.split(', '), form, prose, line });
}

function readReply(spec, fail) {
  if (isReplyKind(spec)) return { kind: spec };
  return {
    fields: spec.split(', ').map((field) => {
      const [, rest = '', name, optional = '', kind] = field.match(/^(\.\.\.)?(\w+)(\?)? (.+)$/) ?? [];
      if (!isReplyKind(kind))
        fail(
          `@returns: got '${field}', expected a name and a kind: text, number, either with [] behind it, or words in quotes`,
        );
      return { name, kind, isRest: rest !== '', isOptional: optional !== '' };
    }),
  };
}

/** With these the script begins. */
const NO_HEADER = ['include', 'needs'];

/** What is said with a tag goes on in indented lines; what is said before the first tag is one text. */
function entriesOf(lines) {
  const entries = [{ text: '', line: 1 }];
  for (const [index, content] of lines.entries()) {
    const tagged = content.match(/^-- @(\w+)\s*(.*)$/);
    if (NO_HEADER.includes(tagged?.[1]) || !content.startsWith('--')) break;
    if (tagged) entries.push({ tag: tagged[1], text: tagged[2], line: index + 1 });
    else entries.at(-1).text += `${entries.at(-1).text === '' ? '' : ' '}${content.slice(2).trim()}`;
  }
  return entries;
}

function splitProse(text, fail) {
  const [, spec, prose] = text.match(/^((?:'[^']*'|[^':])+)(?:: (.*))?$/) ?? fail(`cannot be read: ${text}`);
  return { spec: spec.trim(), prose: prose ?? '' };
}

function checkWhole(file, contract) {
  const fail = (text) => {
    throw new LuaProblem(file, 1, text);
  };
  const { script, prose, isNumbered, keys, node } = contract;
  if (!prose.startsWith(`${script}: `))
    fail(`the header begins with '${prose.slice(0, 30)}', expected '${script}: ' and what the script does`);
  if (!contract.returns) fail('no @returns: say what the script answers');
  if (!isNumbered && !contract.repeat) fail('no @repeat: say what sending the script again does, or make it @numbered');
  if (contract.derived.length === 0 && (keys.length === 0) === !node)
    fail('expected either @keys or @node, by which a cluster tells which node to ask');
  if (isNumbered) keys.push({ name: RECEIPT, lua: luaNameOf(RECEIPT), line: 1, isShared: true });
  const [first] = contract.lists;
  if (first) contract.listsFrom = { name: `${first.name}From`, index: contract.args.length + 1, line: first.line };
}

/** 'tag:<tag>' -> tagKey, '<target>' -> targetKey. */
function luaNameOf(key) {
  return `${key.match(/\w+/)[0]}Key`;
}

/**
 * The names that a script's header gives it: each with what the prologue assigns to it, and the line of the header; a table of arguments
 * also with the line of each of its fields.
 */
export function givenBy({ keys, derived, args, listsFrom }) {
  const given = new Map();
  for (const [i, { lua, line, isShared }] of keys.entries())
    given.set(lua, { value: `KEYS[${i + 1}]`, line, isShared });
  const ofTables = new Map();
  for (const [i, { name, table, kind, line, isShared, asText }] of args.entries()) {
    const value = argumentIn(asText ? 'text' : kind, `ARGV[${i + 1}]`);
    if (table === undefined) given.set(name, { value, line, isShared });
    else ofTables.set(table, [...(ofTables.get(table) ?? []), { name, value, line }]);
  }
  for (const [table, fields] of ofTables)
    given.set(table, {
      value: `{ ${fields.map(({ name, value }) => `${name} = ${value}`).join(', ')} }`,
      line: fields[0].line,
      fields: new Map(fields.map(({ name, line }) => [name, line])),
    });
  for (const { name, lua, line } of derived) {
    const [, begin, crew] = name.match(/^(.*?)(?:<(\w+)>)?$/);
    const table = args.find((arg) => arg.name === crew)?.table;
    const value = `base .. '${begin}'${crew ? ` .. ${table}.${crew}` : ''}`;
    given.set(lua, { value, line, isDerived: true });
  }
  if (listsFrom) given.set(listsFrom.name, { value: String(listsFrom.index), line: listsFrom.line });
  return given;
}

function argumentIn(kind, value) {
  if (kind === 'flag') return `${value} == '1'`;
  return kind === 'text' || kind === 'payload' || kind.includes("'") ? value : `tonumber(${value})`;
}
