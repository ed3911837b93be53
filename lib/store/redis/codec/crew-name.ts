import { createHash } from 'node:crypto';

/** The crew, and the one name, of those that take every name; the scripts know it. */
export const EVERY_NAME = '*';

/** What stands at the end of a crew's name, and the scripts know: handlers have limits there, or its names are taken in all versions. */
export const LIMITED = 'l';
export const ALL_VERSIONS = 'v';

const DIGEST_LENGTH = 12;

/** Sessions that handle the same, and of which the same holds, are one crew, whatever order the names come in. */
export function crewOf(names: readonly string[], trait: typeof LIMITED | typeof ALL_VERSIONS | ''): string {
  const hash = createHash('sha1')
    .update([...names].sort().join('\n'))
    .digest('hex');
  return hash.slice(0, DIGEST_LENGTH) + trait;
}

/** Whether `handles:<crew>` has names without versions, or none. */
export const takesAllVersions = (crew: string) => crew === EVERY_NAME || crew.endsWith(ALL_VERSIONS);
