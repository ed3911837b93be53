import { Redis } from 'ioredis';
import { InvalidOptionsError } from '../../../core/errors.js';
import { describe } from '../../../core/read/describe.js';

const WHERE = 'RedisScheduledQueueModule: connection';
const HOST_AND_PORT = /^(localhost|[\w-]+(\.[\w-]+)+)(:\d{1,5})?$/i;

/** Refuses at start the URLs that ioredis would refuse at each call, by an error that holds the URL. `taken`: options that the module sets itself. */
export function requireUrl(text: string, taken: readonly string[]): void {
  if (!/^(rediss?:\/\/|\/)/.test(text)) {
    const hint = text === '' ? ' Is an environment variable empty?' : '';
    throw new InvalidOptionsError(
      `${WHERE}: got ${withoutSecrets(text)}, expected a URL that begins with redis:// or rediss://, or the path of a socket.${hint}`,
    );
  }
  requireReadable(text, WHERE);
  // ioredis prefers options from the URL's query to all others, and the taken ones must be ours.
  const query = [...new URLSearchParams(text.split('?')[1]).keys()];
  const name = query.find((each) => each === 'keyPrefix' || taken.includes(each));
  if (name === undefined) return;
  throw new InvalidOptionsError(
    `${WHERE}: got ${name} in the URL's query, expected none: ${name === 'keyPrefix' ? "use the module's option prefix instead" : 'the module sets it itself'}.`,
  );
}

/**
 * Lets Node read the URL, because ioredis 5.4 takes half of a broken URL for the whole, and then ioredis, which decodes the parts.
 * Nothing connects. The error keeps no cause: the cause would hold the URL.
 */
export function requireReadable(text: string, where: string): void {
  try {
    if (/^rediss?:/.test(text)) readUrl(text);
    requireDatabase(new Redis(text, { lazyConnect: true }).options.db, where);
  } catch (error) {
    if (error instanceof InvalidOptionsError) throw error;
    throw new InvalidOptionsError(
      `${where}: got ${withoutSecrets(text)}, which cannot be read as a URL, expected redis://user:password@host:port/database. Look at the port, and write special characters of the password as encodeURIComponent does.`,
    );
  }
}

/**
 * Throws `TypeError`, also where `/`, `?` or `#` in a password has ended the part before `@`: the first piece of the password would be taken
 * for the host, asked for by name and told in errors.
 */
export function readUrl(text: string): URL {
  const url = new URL(text);
  const { pathname, search, hash } = url;
  if (/@/.test(pathname + hash) || /^[^=]*@/.test(search)) throw new TypeError();
  return url;
}

/** ioredis would ask for one that is no number as well, and end the process by the answer. Throws `InvalidOptionsError`. */
export function requireDatabase(db: unknown, where: string): void {
  // Digits as text come from the environment, and ioredis takes them.
  if (db === undefined || /^\d+$/.test(String(db))) return;
  const got = Number.isNaN(db) ? 'a database that is not a number' : `the database ${describe(db)}`;
  throw new InvalidOptionsError(`${where}: got ${got}, expected a whole number of at least 0, such as 0.`);
}

/**
 * Describes text that may hold a password, for an error. Only the scheme of a URL is shown: in a URL that cannot be read, nobody can
 * tell where the password ends.
 */
export function withoutSecrets(text: string): string {
  if (text === '' || HOST_AND_PORT.test(text)) return describe(text);
  const [scheme] = text.match(/^([a-z][a-z0-9+.-]{0,15}:)?\/\//i) ?? [];
  return scheme === undefined ? `text of ${text.length} characters` : `"${scheme}***"`;
}
