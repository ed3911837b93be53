import { afterAll, expect, it } from '@jest/globals';
import { SCRIPTS, type ScriptName } from '../../lib/store/redis/scripts/embedded.js';
import { TestStore } from '../support/store.js';

const test = new TestStore();
afterAll(() => test.close());

/** Lua compiles no script with more than 200 locals at its top. */
const SPARE_LOCALS = 40;
const spare = (count: number) => Array.from({ length: count }, (_, i) => `local spare_${i} = 0\n`).join('');

it.each(Object.keys(SCRIPTS) as ScriptName[])('%s has room for more locals', async (name) => {
  await test.redis.script('LOAD', `${spare(SPARE_LOCALS)}${SCRIPTS[name].source}`);
});

/** Over a slow link a larger script hardly arrives. */
const MOST_BYTES = 100_000;

it.each(Object.keys(SCRIPTS) as ScriptName[])('%s is not too large to be sent', (name) => {
  expect(Buffer.byteLength(SCRIPTS[name].source)).toBeLessThanOrEqual(MOST_BYTES);
});

it('a script that has too many is refused, so that the test above can fail', async () => {
  const load = test.redis.script('LOAD', `${spare(190)}${SCRIPTS.turn.source}`);
  await expect(load).rejects.toThrow('more than 200 local variables');
});
