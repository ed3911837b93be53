import { InvalidOptionsError, InvalidScheduleError, QueueUnavailableError } from '../core/errors.js';
import { Redaction } from '../core/payload/redaction.js';
import { nearest } from '../core/read/describe.js';
import { oneLine } from '../core/read/one-line.js';
import { VERSION } from '../core/version.js';
import { BareInstance } from './bare-instance.js';
import { EXIT, type Next } from './command.js';
import { connectionOf } from './connection.js';
import { help, PROGRAM } from './help.js';
import type { Options } from './options.js';
import { type Arguments, readArguments } from './read-arguments.js';
import { readCodecs } from './read-codecs.js';
import type { Terminal } from './terminal.js';
import { jsonLine } from './text/json-line.js';
import { styleOf } from './text/style.js';
import { asTyped, wrap } from './text/words.js';
import { UsageError } from './usage-error.js';

const DEFAULT_PREFIX = 'sq';

/** Runs one command, and answers with what the process is to end. Never throws. */
export async function runCommandLine(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<number> {
  try {
    const read = readArguments(args);
    const { command, options } = read;
    if (options.version) terminal.out(VERSION);
    else if (options.help) terminal.out(help(command?.name, styleOf(terminal.hasColours)));
    else if (command) return await run({ ...read, command }, env, terminal);
    else {
      terminal.err(help(undefined, styleOf(false)));
      return EXIT.usage;
    }
    return EXIT.done;
  } catch (error) {
    const { message, code } = toldOf(error);
    terminal.err(`${PROGRAM}: ${withoutPasswords(oneLine(message))}`);
    return code;
  }
}

async function run(
  { command, queue, operands, options }: Arguments & Required<Pick<Arguments, 'command'>>,
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<number> {
  command.check?.({ operands, options });
  if (command.asks && !options.yes && !terminal.canAsk)
    throw new UsageError(
      `${command.name}: nobody can be asked here, so nothing was done. Give --yes to agree beforehand.`,
    );
  const prefix = options.prefix ?? DEFAULT_PREFIX;
  const redaction = new Redaction(options.redact);
  const tell = (line: string) => terminal.err(oneLine(line));
  const log = command.goesOn && { log: tell, warn: tell, error: tell };
  const codecs = options.codecs === undefined ? [] : await readCodecs(options.codecs);
  const instance = new BareInstance(connectionOf(options, env), prefix, log || undefined, codecs);
  const style = styleOf(terminal.hasColours && !options.json);
  const next = (...commands: readonly Next[]) => nextLines(commands, options);
  try {
    if (command.takes.queue === 'needed') await instance.learn(queue);
    const answer = await command.run({ queue, operands, options, redaction, instance, terminal, style, next });
    if (!answer) return EXIT.done;
    const said = options.json ? jsonLine(answer.json) : answer.text?.();
    if (said !== undefined) terminal.out(said);
    const notes = [...(answer.notes ?? []), ...(queue === '' ? [] : await strangeQueue(instance, queue, prefix))];
    for (const note of notes) terminal.err(wrap(withoutPasswords(note)).join('\n'));
    if (answer.hint !== undefined && !options.json) terminal.err(answer.hint);
    return answer.code ?? EXIT.done;
  } finally {
    await instance.close();
  }
}

/** An error of typing may name a queue: that it is there at least, nobody else says. Where Redis refuses to tell, the command has said so. */
async function strangeQueue({ inspector }: BareInstance, queue: string, prefix: string): Promise<string[]> {
  const names = await inspector.queues().then(
    (queues) => queues.map(({ name }) => name),
    () => undefined,
  );
  if (names === undefined || names.includes(queue)) return [];
  const near = nearest(queue, names);
  const hint = near === undefined ? 'The command queues lists the queues.' : `Did you mean '${near}'?`;
  return [`Nobody has used a queue '${queue}' under the prefix '${prefix}'. ${hint}`];
}

/** With the options that find the same Redis again, and hide the same; a URL may hold a password, so of it there is only the name. */
function nextLines(commands: readonly Next[], { url, cluster, sentinel, prefix, codecs, redact }: Options): string {
  const again = [
    ...(url === undefined ? [] : ['--url …']),
    ...(cluster ? ['--cluster'] : []),
    ...(sentinel === undefined ? [] : [`--sentinel ${asTyped(sentinel)}`]),
    ...(prefix === undefined ? [] : [`--prefix ${prefix}`]),
    ...(codecs === undefined ? [] : [`--codecs ${asTyped(codecs)}`]),
    ...(redact === undefined ? [] : [`--redact ${asTyped(redact.join(','))}`]),
  ];
  return commands
    .map(([why, ...words]) => `${why}:\n  ${[PROGRAM, ...words.map(asTyped), ...again].join(' ')}`)
    .join('\n');
}

function toldOf(error: unknown): { message: string; code: number } {
  const { message } = error as Error;
  if (error instanceof UsageError || error instanceof InvalidScheduleError) return { message, code: EXIT.usage };
  if (error instanceof InvalidOptionsError)
    return { message: message.replace('RedisScheduledQueueModule: connection', '--url'), code: EXIT.usage };
  // Anything else comes of what Redis has answered as well.
  return { message: error instanceof QueueUnavailableError ? message : String(error), code: EXIT.redis };
}

/** Of a URL that a message quotes. A password may hold `/`, and what is quoted may be cut off before its end. Help of our own stays. */
function withoutPasswords(text: string): string {
  return text.replace(/\/\/(?!user:password@)\S*[@…]/g, '//***@');
}
