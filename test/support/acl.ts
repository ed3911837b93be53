import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';

const PAGE = 'docs/security.md';
const PREFIX = 'sq';
/** What the prefixes of tests have in common, as a pattern of keys: see `newPrefix`. */
export const PREFIXES_OF_TESTS = 't*';

/** The words of the command that docs/security.md gives, for another prefix where one is named. */
export function documentedAcl(prefix = PREFIX): string[] {
  const [, line] = readFileSync(PAGE, 'utf8').match(/^```acl\n(.*?)\n```$/ms) ?? [];
  if (!line) throw new Error(`${PAGE} has no block that is fenced as acl.`);
  return line.split(/\s+/).map((word) => word.replace(new RegExp(`^([~&])${PREFIX}:`), `$1${prefix}:`));
}

/** The commands that it allows, sorted. */
export function documentedCommands(): string[] {
  return documentedAcl()
    .filter((word) => word.startsWith('+'))
    .map((word) => word.slice(1))
    .sort();
}

/** Makes the user that docs/security.md describes, and answers the URL by which it connects. `rules`: what differs. */
export async function asDocumentedUser(url: string, prefix?: string, ...rules: string[]): Promise<string> {
  const admin = new Redis(url);
  try {
    const [command, ...args] = documentedAcl(prefix);
    await admin.call(command!, [...args, ...rules]);
    const user = new URL(url);
    [user.username, user.password] = ['queue', 'secret'];
    return user.href;
  } finally {
    admin.disconnect();
  }
}

/** Makes the user that docs/security.md describes for a tenant: named like its prefix. Answers the URL by which it connects. */
export async function asTenant(url: string, prefix: string, ...rules: string[]): Promise<string> {
  const admin = new Redis(url);
  try {
    const [, ...leftOut] = readFileSync(PAGE, 'utf8').match(/Leave out `([^`]+)` and `([^`]+)`/)!;
    const [command, verb, , ...words] = documentedAcl(prefix).filter((word) => !leftOut.includes(word));
    await admin.call(command!, [verb!, prefix, ...words, ...rules]);
    const user = new URL(url);
    [user.username, user.password] = [encodeURIComponent(prefix), 'secret'];
    return user.href;
  } finally {
    admin.disconnect();
  }
}

/** What Redis has refused to anybody: names of commands, keys or channels. */
export async function deniedTo(admin: Redis): Promise<unknown[]> {
  const entries = (await admin.acl('LOG')) as unknown[][];
  return entries.map((entry) => entry[entry.indexOf('object') + 1]);
}
