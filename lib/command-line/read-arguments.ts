import { parseArgs } from 'node:util';
import { describe } from '../core/read/describe.js';
import { keyPart } from '../core/read/names.js';
import { asSentence } from '../core/read/shape.js';
import type { Command } from './command.js';
import { COMMANDS } from './commands.js';
import { COMMON, OPTIONS, type Option, type OptionName, type Options } from './options.js';
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
  const known = [...(command?.options ?? []), ...(Object.keys(COMMON) as OptionName[])];
  const options: Record<string, unknown> = {};
  for (const token of given) {
    const value = readOption(token, known, name);
    const before = options[token.name];
    options[token.name] = Array.isArray(value) && Array.isArray(before) ? [...before, ...value] : value;
  }
  if (!command || options.help || options.version) return { command, queue: '', operands: [], options };
  return { command, options, ...readOperands(command, operands) };
}

function commandOf(name: string): { name: string } & Command {
  const command = COMMANDS.get(name);
  if (!command) throw new UsageError(asSentence(unknownWord('command', name, [...COMMANDS.keys()])));
  return { name, ...command };
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
