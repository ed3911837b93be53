import { readFileSync } from 'node:fs';

const SCRIPT = new URL('../../lib/store/redis/scripts/server/permissions.lua', import.meta.url);

/** The commands that are tried at the start, in small letters. */
export const TRIED_COMMANDS = [...readFileSync(SCRIPT, 'utf8').matchAll(/\b(?:try|note)\('(\w+)'/g)].map(([, name]) =>
  name!.toLowerCase(),
);
