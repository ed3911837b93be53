import { describe, expect, it } from '@jest/globals';
import { COMMANDS } from '../../../lib/command-line/commands.js';
import { OPTIONS } from '../../../lib/command-line/options.js';
import { readArguments } from '../../../lib/command-line/read-arguments.js';
import { typed } from '../../support/command-line.js';

const read = (line: string) => readArguments(line.split(' '));

function checked(line: string): void {
  const { command, ...given } = read(line);
  command?.check?.(given);
}

it('takes options anywhere, with = or without', () => {
  const expected = { queue: 'mail', operands: [], options: { json: true, prefix: 'shop', redact: ['a', 'b'] } };
  expect(read('stats mail --json --prefix shop --redact a,b')).toMatchObject(expected);
  expect(read('--prefix=shop --json stats --redact=a,b mail')).toMatchObject(expected);
  expect(readArguments(['stats', 'mail', '--redact', 'a, b']).options.redact).toEqual(['a', 'b']);
  expect(read('stats --redact a --redact b -- mail')).toMatchObject({ queue: 'mail', options: { redact: ['a', 'b'] } });
});

describe('says what is unknown, with the nearest that is known:', () => {
  it.each([
    ['stat mail', `unknown command "stat", did you mean 'stats'?`],
    ['xyzzy', 'unknown command "xyzzy", known are queues, stats, list, find'],
    ['queues --limits 3', `queues: unknown option "--limits", did you mean '--limit'?`],
    ['--jsn queues', `queues: unknown option "--jsn", did you mean '--json'?`],
    ['stats mail -j', 'stats: unknown option "-j", known are --url'],
    ['list mail ded', `list: unknown state "ded", did you mean 'dead'?`],
    ['find mail --state due,actve', `--state: unknown state "actve", did you mean 'active'?`],
    ['purge-dead mail --reason crash', `--reason: unknown reason "crash", did you mean 'crashed'?`],
    // What stands behind it may be a password.
    ['-a hunter2 queues', 'unknown option "-a", known are --url'],
    // One of another command.
    ['stats mail --limit 3', 'stats: unknown option "--limit", known are --url'],
  ])('%s', (line, message) => {
    expect(() => checked(line)).toThrow(message);
  });
});

describe('refuses, and says what is expected:', () => {
  it.each([
    ['stats', 'stats: got no queue, expected stats <queue>. The command queues lists the queues.'],
    ['stats mail more', 'stats: got "more" too much, expected stats <queue>.'],
    ['queues mail', 'queues: got "mail" too much, expected none.'],
    ['show mail', 'show: got no id, expected show <queue> <id>.'],
    ['cancel mail', 'cancel: got no id, expected cancel <queue> <id>.'],
    // The first one would be deleted otherwise, before the second is refused.
    ['remove mail 7 a\nb', 'remove: id: got "a\\nb", expected 1 to 256 printable characters.'],
    ['cancel mail 7 --tag a', 'cancel: got --tag and the id "7", expected one of both.'],
    ['cancel mail --tag a --tag b', 'cancel: got 2 tags, expected one.'],
    ['cancel mail --tag a --running', 'cancel: got --tag and --running, expected --running with ids.'],
    ['run-now mail 7 --recurrence a', 'run-now: got --recurrence and the id "7", expected one of both.'],
    ['pause mail --for 10m --recurrence a', 'pause: got --for and --recurrence, expected one of them'],
    ['pause mail --for 10', '--for: got "10", expected a number with a unit'],
    ['purge-dead mail --died-before yesterday', '--died-before: got "yesterday", expected a Date'],
    ['replay-dead mail --per-second 0', '--per-second: got "0", expected a number above 0.'],
    ['tail mail --from 12', '--from: got 12, which looks like seconds'],
    ['stats a:b', 'stats: queue: got "a:b", expected 1 to 64 of the characters'],
    ['queues --limit', '--limit: got no value, expected --limit <n>.'],
    ['queues --limit --json', '--limit: got no value, expected --limit <n>.'],
    ['queues --limit many', '--limit: got "many", expected a whole number of at least 1.'],
    ['queues --limit 0', '--limit: got 0, expected a whole number of at least 1.'],
    ['purge-dead mail --reason late --reason crashed', 'purge-dead: got --reason twice, expected it once.'],
    ['stats mail --redact=', '--redact: got "", expected names of properties, such as password,token.'],
    ['stats mail --redact a,', '--redact: got "a,", expected names of properties'],
    ['queues --json=true', '--json: got a value, expected none.'],
    ['queues --prefix a{b', '--prefix: got "a{b", expected 1 to 64 of the characters'],
  ])('%s', (line, message) => {
    expect(() => checked(line)).toThrow(message);
  });
});

it('exits with 2 where something is unknown, says it on stderr, and asks no Redis', async () => {
  const url = '--url=redis://queue:hunter2@127.0.0.1:1';
  const long = `redis://queue:a/hunter2${'x'.repeat(60)}@a`;
  const asWords = [
    ['redis://queue:hunter2@a'],
    [long],
    ['queues', long],
    ['stats', long],
    ['show', 'mail', 'id', long],
  ];
  for (const args of [['stat', 'mail', url], ['queues', url, '--jsn'], ...asWords, []]) {
    const { code, out, err } = await typed(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('nestjs-redis-scheduled-queue');
    expect(err).not.toContain('hunter2');
  }
  const refused = await typed(['queues', '--url', 'redis://queue:hunter2@a:port']);
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /^[\w-]+: --url: got "redis:\/\/\*\*\*", which .* expected redis:\/\/user:password@host/,
    ),
  });
});

describe('help', () => {
  it('names every command and every option, each in lines of at most 100 columns', async () => {
    const all = await typed(['--help']);
    expect(all.code).toBe(0);
    for (const name of COMMANDS.keys()) expect(all.out).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    const one = await Promise.all([...COMMANDS.keys()].map((name) => typed([name, '-h'])));
    const text = [all, ...one].map(({ out }) => out).join('');
    for (const name of Object.keys(OPTIONS)) expect(text).toMatch(new RegExp(`^  --${name}\\b`, 'm'));
    expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
    for (const [i, [name, { options }]] of [...COMMANDS].entries()) {
      expect(one[i]!.out).toMatch(new RegExp(`^nestjs-redis-scheduled-queue ${name}\\b`));
      for (const option of options) expect(one[i]!.out).toContain(`  --${option}`);
    }
  });
});
