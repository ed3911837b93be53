import type { Redaction } from '../core/payload/redaction.js';
import type { BareInstance } from './bare-instance.js';
import type { Options, OwnOption } from './options.js';
import type { Terminal } from './terminal.js';
import type { Style } from './text/style.js';

/** What a process of the command line ends with. */
export const EXIT = {
  done: 0,
  /** An id is not there, or in no state for it; `doctor` has found a problem. */
  missed: 1,
  usage: 2,
  /** Redis is away, or has refused. */
  redis: 3,
} as const;

export interface Command {
  /** What stands behind its name, as help shows it: `<queue>` first, but for commands about all of them. */
  readonly operands: string;
  /** How many operands there may be behind the queue. */
  readonly takes: { readonly queue: 'needed' | 'possible' | 'none'; readonly more: number };
  readonly summary: string;
  readonly options: readonly OwnOption[];
  /** Whether somebody must agree before it changes anything, at the terminal or by `--yes`. */
  readonly asks?: true;
  /** Whether it goes on until it is interrupted. It then says when Redis goes and comes back: else nothing would seem to happen. */
  readonly goesOn?: true;
  /** Throws `UsageError` for operands and options that do not go together. Called before Redis is asked anything. */
  check?(given: Pick<Call, 'operands' | 'options'>): void;
  run(call: Call): Promise<Answer | undefined>;
}

/** How a command was called. */
export interface Call {
  /** '' where none was named. */
  readonly queue: string;
  /** The operands behind the queue. */
  readonly operands: readonly string[];
  readonly options: Options;
  /** Of `--redact`. */
  readonly redaction: Redaction;
  readonly instance: BareInstance;
  readonly terminal: Terminal;
  readonly style: Style;
  /** Lines that say what to type next, and for what. */
  next(...commands: readonly Next[]): string;
}

/** A command to type next: what it is for, and its words. */
export type Next = readonly [purpose: string, ...words: string[]];

export interface Answer {
  /** What `--json` prints. */
  readonly json: unknown;
  /** What is printed without it; nothing where there is no answer. */
  text?(): string;
  /** What is said beside the answer, a sentence each. */
  readonly notes?: readonly string[];
  /** What to type next where there is no answer. */
  readonly hint?: string;
  /** Default `EXIT.done`. */
  readonly code?: number;
}

/** The answer of a command that changes something. */
export function changedAnswer(changed: number, text: string, more: Pick<Answer, 'notes' | 'code'> = {}): Answer {
  return { json: { changed }, text: () => text, ...more };
}

/** Where somebody must agree: `undefined` if somebody does, else the answer. */
export async function refusal({ options, terminal }: Call, question: string): Promise<Answer | undefined> {
  if (options.yes || (await terminal.ask(question))) return undefined;
  return changedAnswer(0, 'Nothing was changed.', { code: EXIT.missed });
}
