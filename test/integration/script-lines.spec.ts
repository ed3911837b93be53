import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from '@jest/globals';
import { SCRIPTS } from '../../lib/store/redis/scripts/embedded.js';
import { TestStore } from '../support/store.js';

const test = new TestStore();
afterAll(() => test.close());

const load = (file: string): Promise<unknown> => import(`../../scripts/${file}`);
const { listScripts } = (await load('embed-lua.mjs')) as { listScripts(): unknown[] };
const { showScript } = (await load('lua/show.mjs')) as { showScript(scripts: unknown[], what: string): string };
const scripts = listScripts();
const linesOf = (what: string) => showScript(scripts, what).trimEnd().split('\n');

/** `cancel`, with a text in the place of its deadline. */
async function errorOfCancel(): Promise<string> {
  const keys = Array.from({ length: 12 }, (_, i) => `{${test.prefix}}:${i}`);
  const args = ['base', '1', 'no time', '1', ...Array.from({ length: 12 }, () => '')];
  const call = test.redis.eval(SCRIPTS.cancel.source, keys.length, ...keys, ...args);
  return call.then(String, (error: Error) => error.message);
}

it('an error of Redis tells the digest and the line of a script, and these lead to the line of its file', async () => {
  const message = await errorOfCancel();
  const [, line] = message.match(/user_script:(\d+): attempt to compare number with nil/)!;
  const [sha] = message.match(/[0-9a-f]{40}/)!;
  const shown = execFileSync(process.execPath, ['scripts/embed-lua.mjs', '--show', `${sha}:${line}`], {
    encoding: 'utf8',
  });
  const around = shown.trimEnd().split('\n');
  const [, file, lineOfFile, written, sent] = around[3]!.match(/^ +\d+ {2}(\S+):(\d+) +(.*) {2}--> {2}(.*)$/)!;

  expect(sha).toBe(SCRIPTS.cancel.sha);
  expect(around).toEqual(linesOf('cancel').slice(Number(line) - 4, Number(line) + 3));
  expect(written).toContain('deadline > 0');
  expect(sent).not.toContain('deadline');
  expect(readFileSync(`lib/store/redis/scripts/${file}`, 'utf8').split('\n')[Number(lineOfFile) - 1]).toBe(written);
});

it('what is shown of a script is what Redis gets, line by line', () => {
  const sent = linesOf('cancel').map((line) => line.replace(/^ *\d+ {2}\S+ +/, '').replace(/^.* {2}--> {2}/, ''));
  expect(sent.join('\n')).toBe(SCRIPTS.cancel.source);
});

it.each([
  ['', "There is no script '': expected one of add-events, "],
  ['turns', "There is no script 'turns': expected one of add-events, "],
  ['cancel:0', "'cancel' has no line 0: expected 1 to "],
  ['cancel:99999', "'cancel' has no line 99999: expected 1 to "],
])("'%s' is refused", (what, problem) => {
  expect(() => showScript(scripts, what)).toThrow(problem);
});
