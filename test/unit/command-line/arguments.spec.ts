import { describe, expect, it } from '@jest/globals';
import { COMMANDS } from '../../../lib/command-line/commands.js';
import { COMMON } from '../../../lib/command-line/options.js';
import { readArguments } from '../../../lib/command-line/read-arguments.js';
import { typed } from '../../support/command-line.js';

const read = (line: string) => readArguments(line.split(' '));

it('takes options anywhere, with = or without', () => {
  const expected = { queue: 'mail', operands: [], options: { json: true, prefix: 'shop', redact: ['a', 'b'] } };
  expect(read('stats mail --json --prefix shop --redact a,b')).toMatchObject(expected);
  expect(read('--prefix=shop --json stats --redact=a,b mail')).toMatchObject(expected);
  expect(read('stats --redact a --redact b -- mail')).toMatchObject({ queue: 'mail', options: { redact: ['a', 'b'] } });
});

describe('says what is unknown, with the nearest that is known:', () => {
  it.each([
    ['stat mail', `unknown command "stat", did you mean 'stats'?`],
    ['xyzzy', 'unknown command "xyzzy", known are queues, stats'],
    ['queues --limits 3', `queues: unknown option "--limits", did you mean '--limit'?`],
    ['--jsn queues', `queues: unknown option "--jsn", did you mean '--json'?`],
    ['stats mail -j', 'stats: unknown option "-j", known are --url'],
    // One of another command.
    ['stats mail --limit 3', 'stats: unknown option "--limit", known are --url'],
  ])('%s', (line, message) => {
    expect(() => read(line)).toThrow(message);
  });
});

describe('refuses, and says what is expected:', () => {
  it.each([
    ['stats', 'stats: got no queue, expected stats <queue>. The command queues lists the queues.'],
    ['stats mail more', 'stats: got "more" too much, expected stats <queue>.'],
    ['queues mail', 'queues: got "mail" too much, expected none.'],
    ['stats a:b', 'stats: queue: got "a:b", expected 1 to 64 of the characters'],
    ['queues --limit', '--limit: got no value, expected --limit <n>.'],
    ['queues --limit --json', '--limit: got no value, expected --limit <n>.'],
    ['queues --limit many', '--limit: got "many", expected a whole number of at least 1.'],
    ['queues --limit 0', '--limit: got 0, expected a whole number of at least 1.'],
    ['queues --json=true', '--json: got a value, expected none.'],
    ['queues --prefix a{b', '--prefix: got "a{b", expected 1 to 64 of the characters'],
  ])('%s', (line, message) => {
    expect(() => read(line)).toThrow(message);
  });
});

it('exits with 2 where something is unknown, says it on stderr, and asks no Redis', async () => {
  const url = '--url=redis://queue:hunter2@127.0.0.1:1';
  for (const args of [['stat', 'mail', url], ['queues', url, '--jsn'], ['redis://queue:hunter2@a'], []]) {
    const { code, out, err } = await typed(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('nestjs-redis-scheduled-queue');
    expect(err).not.toContain('hunter2');
  }
  const refused = await typed(['queues', '--url', 'redis://queue:hunter2@a:port']);
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^[\w-]+: --url: got "redis:\/\/\*\*\*", which/),
  });
});

describe('help', () => {
  it('names every command and every option, each in lines of at most 100 columns', async () => {
    const all = await typed(['--help']);
    expect(all.code).toBe(0);
    for (const name of COMMANDS.keys()) expect(all.out).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    const one = await Promise.all([...COMMANDS.keys()].map((name) => typed([name, '-h'])));
    const text = [all, ...one].map(({ out }) => out).join('');
    for (const name of Object.keys(COMMON)) expect(text).toMatch(new RegExp(`^  --${name}\\b`, 'm'));
    expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
    for (const [i, [name, { options }]] of [...COMMANDS].entries()) {
      expect(one[i]!.out).toMatch(new RegExp(`^nestjs-redis-scheduled-queue ${name}\\b`));
      for (const option of options) expect(one[i]!.out).toContain(`  --${option}`);
    }
  });
});
