import { UNPRINTABLE } from '../../core/read/one-line.js';

const EACH_UNPRINTABLE = new RegExp(`[${UNPRINTABLE}]`, 'gu');

/** A value as JSON. JSON itself leaves characters as they are that some terminals take for commands, such as U+009B; each is an escape here. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(EACH_UNPRINTABLE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
