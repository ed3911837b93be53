import { Redis } from 'ioredis';
import { describe } from '../../core/describe.js';
import { InvalidOptionsError } from '../../core/errors.js';

const HOST_AND_PORT = /^(localhost|[\w-]+(\.[\w-]+)+)(:\d{1,5})?$/i;

/** Refuses what ioredis would refuse at each call, with an error that holds the URL. `taken` are options that must be the module's. */
export function requireUrl(text: string, taken: readonly string[]): void {
  if (!/^(rediss?:\/\/|\/)/.test(text)) {
    throw new InvalidOptionsError(
      `connection: got ${withoutSecrets(text)}, expected a URL that begins with redis:// or rediss://, or the path of a socket.`,
    );
  }
  requireReadable(text, 'connection');
  // ioredis takes options from a URL's query before any others, and these must be ours.
  const query = [...new URLSearchParams(text.split('?')[1]).keys()];
  const name = query.find((each) => each === 'keyPrefix' || taken.includes(each));
  if (name === undefined) return;
  throw new InvalidOptionsError(
    `connection: got ${name} in the URL's query, expected none: ${name === 'keyPrefix' ? "use the module's option prefix instead" : 'the module sets it itself'}.`,
  );
}

/**
 * By Node, as ioredis 5.4 takes the half of a broken URL for the whole, and by ioredis itself, which decodes it. Nothing
 * connects. The cause is not kept: it holds the URL.
 */
export function requireReadable(text: string, where: string): void {
  try {
    if (/^rediss?:/.test(text)) new URL(text);
    new Redis(text, { lazyConnect: true });
  } catch {
    throw new InvalidOptionsError(
      `${where}: got ${withoutSecrets(text)}, which cannot be read as a URL, expected redis://user:password@host:port/database. Write special characters of the password as encodeURIComponent does.`,
    );
  }
}

/**
 * Text that may hold a password, as an error may show it. Of a URL that is only the scheme: in one that cannot be read nobody can
 * tell where the password ends.
 */
export function withoutSecrets(text: string): string {
  if (text === '' || HOST_AND_PORT.test(text)) return describe(text);
  const [scheme] = text.match(/^([a-z][a-z0-9+.-]{0,15}:)?\/\//i) ?? [];
  return scheme === undefined ? `text of ${text.length} characters` : `"${scheme}***"`;
}
