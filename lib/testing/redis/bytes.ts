/** Texts of the small Redis are bytes, a character each; those of its callers are Unicode. Most are ASCII, and the same in both. */

/** Up to this length a loop is faster than a regular expression. */
const SHORT = 24;
const BEYOND_ASCII = /[\u0080-\uffff]/;

function isAscii(text: string): boolean {
  if (text.length > SHORT) return !BEYOND_ASCII.test(text);
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** An argument, as ioredis would send it. */
export function toBytes(argument: string | number | Buffer): string {
  if (typeof argument === 'number') return String(argument);
  if (typeof argument !== 'string') return argument.toString('latin1');
  return isAscii(argument) ? argument : Buffer.from(argument, 'utf8').toString('latin1');
}

export function toText(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Some hundred queues have no more keys that stay the same. */
const MOST_KNOWN = 10_000;

/** The bytes of texts that come again and again. */
export class KnownBytes {
  private readonly known = new Map<string, string>();

  of(text: string): string {
    const known = this.known.get(text);
    if (known !== undefined) return known;
    const bytes = toBytes(text);
    if (this.known.size >= MOST_KNOWN) this.known.clear();
    this.known.set(text, bytes);
    return bytes;
  }
}
