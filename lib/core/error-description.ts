import { type ShownError, shownOf } from './payload/without-values.js';
import { describe } from './read/describe.js';
import { oneLine } from './read/one-line.js';

/** A thrown value as logs and stored failures show it: each part but the stack is one short, escaped line. */
export interface ErrorDescription {
  /** The name of the error, or the `typeof` of a thrown value that is no error. */
  name: string;
  /** The error's, and what the errors inside an `AggregateError` or the response of an `HttpException` say. */
  message: string;
  /** Such as `ECONNREFUSED` or `P2002`. */
  code?: string;
  /** The error's `cause` and the causes of that cause, up to three deep, in one line. */
  cause?: string;
  /** The first line, escaped, and then the first lines that name a place. */
  stack?: string;
  isError: boolean;
}

const NAME_CHARACTERS = 100;
const MESSAGE_CHARACTERS = 1_000;
/** How many errors inside an `AggregateError`, and how many messages of a response, are told. */
const INNER_TOLD = 5;
const CAUSES_TOLD = 3;
const STACK_CHARACTERS = 4_000;
const PLACE_CHARACTERS = 300;
const PLACE = '    at ';
const BEFORE_PLACE = `\n${PLACE}`;

/** Describes whatever may be thrown, and never throws. `places`: how many lines of the stack are wanted that name a place. */
export function describeError(thrown: unknown, places = 10): ErrorDescription {
  return describeWithin(thrown, [thrown], places);
}

/** Its name, and its place as `placeIn` has it, for an error that may quote a payload: nothing of its message. */
export function nameAndPlace(thrown: unknown): string {
  const description = describeWithin(thrown, [thrown], 10, { message: '' });
  return `${description.name}${placeIn(description)}`;
}

/** A description as one line: `Name: message [code] (cause: …)`. */
export function errorLine({ name, message, code, cause, stack, isError }: ErrorDescription): string {
  if (!isError) return `${message} (not an Error, so there is no stack)`;
  // An error without a stack is one that this library made, or one whose stack was removed on purpose.
  const named = name === 'Error' && stack === undefined ? [] : [name];
  const told = [...named, ...(message ? [message] : [])].join(': ');
  // Many messages begin with their code.
  const withCode = code === undefined || told.includes(code) ? told : `${told} [${code}]`;
  return cause === undefined ? withCode || name : `${withCode || name} (cause: ${cause})`;
}

/** Where it was thrown in the application's own files, such as ` at Handlers.send (/app/src/handlers.ts:12:5)`; '' where nothing tells. */
export function placeIn({ stack }: ErrorDescription): string {
  const place = stack
    ?.split('\n')
    .find(
      (line) => line.startsWith(PLACE) && /:\d+:\d+\)?$/.test(line) && !/[\\/]node_modules[\\/]|\bnode:/.test(line),
    );
  return place === undefined ? '' : ` ${place.trim().slice(0, PLACE_CHARACTERS)}`;
}

/**
 * `within`: the errors that this one stands in, itself the last, so that a circle of causes is told once. `as`: how it is to be shown,
 * where the error itself does not say that.
 */
function describeWithin(
  thrown: unknown,
  within: readonly unknown[],
  places: number,
  as?: Pick<ShownError, 'message'>,
): ErrorDescription {
  try {
    if (!(thrown instanceof Error || (typeof thrown === 'object' && thrown !== null && 'message' in thrown))) {
      const message = typeof thrown === 'string' ? cut(thrown) : oneLine(describe(thrown));
      return { name: typeof thrown, message, isError: false };
    }
    const { name, message, stack, code } = thrown as Error & { code?: unknown };
    const shownName = cut(name || 'Error', NAME_CHARACTERS);
    const ownMessage = String(message ?? '');
    const shown = as ?? shownOf(thrown);
    const shownMessage = cut(shown?.message ?? withInner(shownName, ownMessage, thrown, within));
    const instead = shown && `${shownName}: ${shownMessage}`;
    return {
      name: shownName,
      message: shownMessage,
      code: typeof code === 'string' || typeof code === 'number' ? cut(code, NAME_CHARACTERS) : undefined,
      cause: shown ? undefined : describeCause(thrown, shownMessage, within),
      stack: typeof stack === 'string' ? cutStack(stack, ownMessage, places, instead) : undefined,
      isError: true,
    };
  } catch {
    return { name: 'Error', message: 'what was thrown could not be read', isError: true };
  }
}

/** Describes the cause; `undefined` where there is none, or where the outer message already contains it. */
function describeCause(error: object, told: string, within: readonly unknown[]): string | undefined {
  const cause = read(error, 'cause');
  if (cause === undefined || cause === null || within.length > CAUSES_TOLD || within.includes(cause)) return undefined;
  const { message, code = '', cause: further } = describeWithin(cause, [...within, cause], 1);
  if (message !== '' && further === undefined && told.includes(message) && told.includes(code)) return undefined;
  return cut(innerLine(cause, within));
}

/** A cause, or an item of an `AggregateError`, may be a string: it is shown unchanged. */
function innerLine(inner: unknown, within: readonly unknown[]): string {
  const description = describeWithin(inner, [...within, inner], 1);
  return description.isError ? errorLine(description) : description.message;
}

/** An `AggregateError` often has an empty or meaningless message: its inner errors tell the reason. */
function withInner(name: string, message: string, error: object, within: readonly unknown[]): string {
  const inner = [...responseMessages(error), ...innerErrors(error, within)];
  const told = inner.filter((text) => !message.includes(text));
  if (told.length === 0) return message;
  // Nest makes 'Bad Request Exception' of a BadRequestException whose response says more.
  const ownIsName = message.replaceAll(' ', '') === name;
  return message === '' || ownIsName ? told.join('; ') : `${message} (${told.join('; ')})`;
}

function innerErrors(error: object, within: readonly unknown[]): string[] {
  const errors = read(error, 'errors');
  if (!(error instanceof AggregateError) && read(error, 'name') !== 'AggregateError') return [];
  if (!Array.isArray(errors) || within.length > CAUSES_TOLD) return [];
  return firstOf(
    errors.filter((each) => !within.includes(each)),
    (each) => innerLine(each, within),
  );
}

/** The findings of a pipe, from the response of Nest's `HttpException`. Other responses may hold user data, so they are not shown. */
function responseMessages(error: object): string[] {
  if (typeof read(error, 'getResponse') !== 'function') return [];
  const response = read(error, 'response');
  const messages = typeof response === 'object' && response !== null ? read(response, 'message') : response;
  return firstOf((Array.isArray(messages) ? messages : [messages]).flatMap(sentencesOf), (text) => text);
}

/** A sentence, or the sentences of class-validator's findings. Never the refused value, which may be secret. */
function sentencesOf(message: unknown): string[] {
  if (typeof message === 'string') return [message];
  if (typeof message !== 'object' || message === null) return [];
  const [constraints, children] = [read(message, 'constraints'), read(message, 'children')];
  const own = typeof constraints === 'object' && constraints !== null ? Object.values(constraints) : [];
  const all = Array.isArray(children) ? [...own, ...children] : own;
  return all.slice(0, INNER_TOLD + 1).flatMap(sentencesOf);
}

function firstOf<T>(items: readonly T[], toText: (item: T) => string): string[] {
  const told = items.slice(0, INNER_TOLD).map(toText);
  return items.length > INNER_TOLD ? [...told, `and ${items.length - INNER_TOLD} more`] : told;
}

/** Reading a property may throw, for example on a proxy. Such a property counts as missing. */
function read(object: object, property: string): unknown {
  try {
    return (object as Record<string, unknown>)[property];
  } catch {
    return undefined;
  }
}

function cut(text: unknown, characters = MESSAGE_CHARACTERS): string {
  return oneLine(String(text ?? '').slice(0, characters)).slice(0, characters);
}

/**
 * A stack repeats the message, whose lines could pass for others: only lines that name a place stay lines, all before is one line.
 * `instead`: what stands there in its place. Then no line may be the message's: where that is not certain, no place is shown.
 */
function cutStack(stack: string, message: string, most: number, instead?: string): string {
  const behind = endOfMessage(stack, message);
  if (instead !== undefined && behind === undefined) return instead;
  const placesFrom = stack.indexOf(BEFORE_PLACE, behind);
  const places = placesFrom < 0 ? [] : stack.slice(placesFrom + 1).split('\n');
  const head = instead ?? cut(placesFrom < 0 ? stack : stack.slice(0, placesFrom));
  const kept = instead === undefined ? places.filter(isPlace) : untilOther(places);
  return [head, ...kept.slice(0, most).map(oneLine)].join('\n').slice(0, STACK_CHARACTERS);
}

/** `undefined` where the stack does not begin with `Name: message` and a place: the message has been changed since, or the stack. */
function endOfMessage(stack: string, message: string): number | undefined {
  const name = /^[^\n:]*/.exec(stack)![0];
  const end = message === '' ? name.length : `${name}: ${message}`.length;
  const begins = message === '' || stack.startsWith(`: ${message}`, name.length);
  return begins && (end === stack.length || stack.startsWith(BEFORE_PLACE, end)) ? end : undefined;
}

function isPlace(line: string): boolean {
  return line.startsWith(PLACE);
}

/** Behind other lines somebody may have added the stack of a cause, which repeats a message too. */
function untilOther(lines: string[]): string[] {
  const other = lines.findIndex((line) => !isPlace(line));
  return other < 0 ? lines : lines.slice(0, other);
}
