import { COMMANDS } from './commands.js';
import { COMMON, OPTIONS, type Option, type OptionName } from './options.js';
import type { Style } from './text/style.js';
import { WIDTH, wrap } from './text/words.js';

/** The name by which this program is called. */
export const PROGRAM = 'nestjs-redis-scheduled-queue';

const INDENT = '  ';

/** How all commands are used, or one of them. */
export function help(name: string | undefined, style: Style): string {
  const command = name === undefined ? undefined : COMMANDS.get(name);
  if (!command)
    return [
      `${PROGRAM} <command> [queue] [id …] [options]`,
      section(
        'Commands',
        [...COMMANDS].map(([each, { operands, summary }]) => [`${each} ${operands}`.trim(), summary]),
        style,
      ),
      section('Options of all commands', optionsOf(Object.keys(COMMON) as OptionName[]), style),
      `${PROGRAM} <command> --help shows the options of one command.`,
    ].join('\n\n');
  return [
    `${PROGRAM} ${name} ${command.operands}`.trim(),
    wrap(`${command.summary}.`).join('\n'),
    ...(command.options.length > 0 ? [section('Options', optionsOf(command.options), style)] : []),
    section('Options of all commands', optionsOf(Object.keys(COMMON) as OptionName[]), style),
  ].join('\n\n');
}

function optionsOf(names: readonly OptionName[]): [string, string][] {
  return names.map((name) => {
    const { value, summary }: Option<unknown> = OPTIONS[name];
    return [`--${name}${value === undefined ? '' : ` ${value}`}`, summary];
  });
}

function section(title: string, rows: readonly (readonly [string, string])[], { bold }: Style): string {
  const width = Math.max(...rows.map(([word]) => word.length));
  const lines = rows.flatMap(([word, summary]) =>
    wrap(summary, WIDTH - width - 2 * INDENT.length).map(
      (line, i) => `${INDENT}${(i === 0 ? word : '').padEnd(width)}${INDENT}${line}`,
    ),
  );
  return [bold(title), ...lines].join('\n');
}
