import { parseArgs } from 'node:util';
import { describe } from '../core/read/describe.js';
import { keyPart } from '../core/read/names.js';
import { asSentence } from '../core/read/shape.js';
import type { Command } from './command.js';
import { COMMANDS } from './commands.js';
import { COMMON, OPTIONS, type Option, type OptionName, type Options, type OwnOption } from './options.js';
import { UsageError, unknownWord } from './usage-error.js';

/** What was typed behind the name of the program, read. */
export interface Arguments {
  /** None where only help or the version is wanted. */
  readonly command?: { readonly name: string } & Command;
  readonly queue: string;
  readonly operands: readonly string[];
  readonly options: Options;
}

/** Throws `UsageError`. */
export function readArguments(args: readonly string[]): Arguments {
  const { tokens } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(
        Object.entries<Option<unknown>>(OPTIONS).map(([name, { value }]) => [
          name,
          { type: value === undefined ? ('boolean' as const) : ('string' as const) },
        ]),
      ),
      help: { type: 'boolean', short: 'h' },
    },
    allowPositionals: true,
    // Its own errors name no option that may have been meant.
    strict: false,
    tokens: true,
  });
  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  const given = tokens.filter((token) => token.kind === 'option');
  const [name, ...operands] = words;
  const command = name === undefined ? undefined : commandOf(name);
  const known = command
    ? [...command.options, ...optionNames(COMMON)]
    : optionNames(name === undefined ? COMMON : OPTIONS);
  const options: Record<string, unknown> = {};
  for (const token of given) {
    const value = readOption(token, known, command?.name);
    const before = options[token.name];
    // Of two conditions only one would hold, and more jobs would be changed, or others, than somebody means.
    if (before !== undefined && !Array.isArray(value) && command?.options.includes(token.name as OwnOption))
      throw new UsageError(`${command.name}: got ${token.rawName} twice, expected it once.`);
    options[token.name] = Array.isArray(value) && Array.isArray(before) ? [...before, ...value] : value;
  }
  // Not before the options: what stands behind an unknown one is no command, and may be a password.
  if (name !== undefined && !command)
    throw new UsageError(asSentence(unknownWord('command', name, [...COMMANDS.keys()])));
  if (!command || options.help || options.version) return { command, queue: '', operands: [], options };
  return { command, options, ...readOperands(command, operands) };
}

function commandOf(name: string): ({ name: string } & Command) | undefined {
  const command = COMMANDS.get(name);
  return command && { name, ...command };
}

function optionNames(options: object): OptionName[] {
  return Object.keys(options) as OptionName[];
}

function readOption(
  { name, rawName, value, inlineValue }: { name: string; rawName: string; value?: string; inlineValue?: boolean },
  known: readonly OptionName[],
  command: string | undefined,
): unknown {
  if (!known.includes(name as OptionName)) {
    const where = command === undefined ? '' : `${command}: `;
    const all = known.map((each) => `--${each}`);
    throw new UsageError(asSentence(where + unknownWord('option', rawName, all)));
  }
  const option: Option<unknown> = OPTIONS[name as OptionName];
  if (option.value === undefined) {
    if (value !== undefined) throw new UsageError(`${rawName}: got a value, expected none.`);
  } else if (value === undefined || (!inlineValue && value.startsWith('--'))) {
    throw new UsageError(`${rawName}: got no value, expected ${rawName} ${option.value}.`);
  }
  const read = option.read(value);
  if ('problem' in read) throw new UsageError(asSentence(`${rawName}: ${read.problem}`));
  return read.value;
}

function readOperands(
  { name, operands: usage, takes }: { name: string } & Command,
  given: readonly string[],
): { queue: string; operands: readonly string[] } {
  const expected = usage === '' ? 'none' : `${name} ${usage}`;
  const [queue, ...operands] = takes.queue === 'none' ? ['', ...given] : given;
  if (queue === undefined) {
    if (takes.queue === 'possible') return { queue: '', operands: [] };
    throw new UsageError(`${name}: got no queue, expected ${expected}. The command queues lists the queues.`);
  }
  if (takes.queue !== 'none') {
    const read = keyPart(queue);
    if ('problem' in read) throw new UsageError(asSentence(`${name}: queue: ${read.problem}`));
  }
  const surplus = operands[takes.more];
  if (surplus !== undefined) throw new UsageError(`${name}: got ${describe(surplus)} too much, expected ${expected}.`);
  if (operands.includes(''))
    throw new UsageError(`${name}: got an empty word, expected ${expected}. Is a variable empty?`);
  return { queue, operands };
}
