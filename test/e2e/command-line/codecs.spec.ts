import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { PayloadCodec } from '../../../lib/index.js';
import { messagePackCodec } from '../../../lib/msgpack/index.js';
import { runProgram } from '../../support/command-line.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';

// Payloads that are not stored as JSON, as the program shows them.

const prefix = newPrefix();
const folder = mkdtempSync(join(tmpdir(), 'scheduled-queue-codecs-'));
const MODULE = join(folder, 'codecs.mjs');
const asked = ['--url', redisUrl(), '--prefix', prefix];

const reversed: PayloadCodec = {
  id: 'reversed',
  encode: (payload) => [...JSON.stringify(payload)].reverse().join(''),
  decode: (stored) => JSON.parse([...String(stored)].reverse().join('')),
};

beforeAll(async () => {
  writeFileSync(
    MODULE,
    `export const codecs = [{
      id: 'reversed',
      encode: () => '',
      decode: async (stored) => JSON.parse([...String(stored)].reverse().join('')),
    }];
    export const other = 1;`,
  );
  writeFileSync(join(folder, 'none.mjs'), 'export const other = 1;');
  for (const codec of [messagePackCodec, reversed] as PayloadCodec[]) {
    const { producer } = await startApp([], { prefix, role: 'producer', codec });
    await producer.schedule('work', { user: 7, password: 'hunter2' }, { id: codec.id, delay: '1h' });
  }
});

afterAll(async () => {
  await stopApps();
  rmSync(folder, { recursive: true });
});

it.each([
  ['msgpack', 'nestjs-redis-scheduled-queue/msgpack'],
  ['reversed', MODULE],
])('a payload of the codec %s is shown where --codecs names the module of the codec', async (id, module) => {
  const show = (...args: string[]) => runProgram(['show', 'default', id, ...asked, ...args]);
  const without = await show('--json');
  const { payload, codec } = JSON.parse(without.out);
  expect({ payload, codec, code: without.code }).toEqual({ payload: undefined, codec: id, code: 0 });
  expect(without.err.replaceAll('\n', ' ')).toContain(`Its payload was stored by the codec '${id}', and is not shown`);

  const { out, err, code } = await show('--json', '--codecs', module, '--redact', 'password');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out).payload).toEqual({ user: 7, password: '[redacted]' });
  const found = JSON.parse(
    (await runProgram(['list', 'default', 'scheduled', '--json', '--codecs', module, ...asked])).out,
  );
  expect(found.find((job: { id: string }) => job.id === id).payload).toEqual({ user: 7, password: 'hunter2' });
  // What to type next shows it as well.
  expect((await show('--codecs', module)).out).toContain(`--codecs ${module}`);
});

it.each([
  ['./no-such-file.js', 'cannot be loaded'],
  ['no-such-package', 'cannot be loaded'],
  [join(folder, 'none.mjs'), 'exports no codec'],
])('--codecs %s is a mistake of typing, and nothing happens', async (module, message) => {
  const { code, out, err } = await runProgram(['cancel', 'default', 'msgpack', '--yes', '--codecs', module, ...asked]);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(`--codecs: the module "${module}" ${message}`);
  expect((await runProgram(['show', 'default', 'msgpack', ...asked])).code).toBe(0);
});
