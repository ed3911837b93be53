import { beforeEach, expect, it } from '@jest/globals';
import { type QueueOptions, readQueueOptions } from '../../../../../lib/core/options/queue-options.js';
import { sharedOptions } from '../../../../../lib/core/options/shared-options.js';
import { OptionsWatch } from '../../../../../lib/store/redis/checks/options-watch.js';
import type { DifferingWorker } from '../../../../../lib/store/redis/view/presence.js';
import { ManualClock } from '../../../../support/manual-clock.js';

let clock: ManualClock;
let lines: string[];
let looks: number;
/** What Redis answers. */
let differing: DifferingWorker[];
let watch: OptionsWatch;

beforeEach(() => {
  clock = new ManualClock();
  lines = [];
  looks = 0;
  differing = [];
  watch = watchOf({});
});

function watchOf(options: QueueOptions, codec = 'json', random = () => 0): OptionsWatch {
  const read = async () => {
    looks++;
    return differing;
  };
  const log = { log() {}, warn: (line: string) => lines.push(line), error() {} };
  const place = { host: 'api-1', pid: 12 };
  return new OptionsWatch('mail', optionsOf(options, codec), read, log, place, clock, random);
}

const optionsOf = (options: QueueOptions, codec = 'json') => sharedOptions(readQueueOptions('mail', options), codec);

const worker = (id: string, options: QueueOptions, codec?: string): DifferingWorker => ({
  id,
  host: `host-${id}`,
  pid: 7,
  options: optionsOf(options, codec),
});

/** Sessions list themselves every few seconds for so long. */
async function pass(minutes: number): Promise<void> {
  for (let s = 0; s < minutes * 60; s += 4) {
    watch.listed('own~pull-*');
    clock.pass(4_000);
    await Promise.resolve();
  }
}

it('tells of an option that differs from that of another live worker for ten minutes, once, with both values and workers', async () => {
  differing = [worker('w', { leaseMs: 30_000 })];
  await pass(10);
  expect(lines).toEqual([]);
  await pass(1);
  expect(lines).toEqual([
    "The processes of queue 'mail' have had different options for ten minutes: leaseMs is 15000 in worker 'own' (api-1, pid 12), and 30000 in worker 'w' (host-w, pid 7). Give all of them the same: see docs/operations.md, \"Processes that disagree\".",
  ]);
  await pass(600);
  expect(lines).toHaveLength(1);
});

it('has a line for each option that differs, of any kind', async () => {
  const ordering = { mode: 'aging', msPerLevel: 1_000 } as const;
  const rateLimit = { max: 5, perMs: 1_000 };
  const groups = { order: 'fifo' } as const;
  const kept = { keepDead: 5, keepEnded: 7 };
  const options = { ordering, rateLimit, groups, ...kept, globalConcurrency: 3, streamEvents: { maxLength: 9 } };
  differing = [worker('w', options, 'msgpack')];
  await pass(11);
  expect(lines.map((line) => line.match(/: (\w+ is .*?) in worker .*, and (.*?) in worker/)!.slice(1))).toEqual([
    ['groups is null', '{"concurrency":1,"rateLimit":null,"order":"fifo"}'],
    ['keepEnded is null', '{"count":7,"ageMs":null}'],
    ['ordering is {"mode":"strict"}', '{"mode":"aging","msPerLevel":1000}'],
    ['rateLimit is null', '{"max":5,"perMs":1000}'],
    ['globalConcurrency is null', '3'],
    ['keepDead is {"count":10000,"ageMs":null}', '{"count":5,"ageMs":null}'],
    ['streamEvents is false', '{"maxLength":9}'],
    ['codec is "json"', '"msgpack"'],
  ]);
});

it('says nothing of a deploy, in which each worker differs for less than ten minutes', async () => {
  for (let i = 0; i < 6; i++) {
    differing = [worker(`w${i}`, { leaseMs: 30_000 }), worker(`w${i + 1}`, { leaseMs: 30_000 })];
    await pass(4);
  }
  differing = [];
  await pass(60);
  expect(lines).toEqual([]);
});

it('counts the ten minutes anew if the two have agreed meanwhile', async () => {
  differing = [worker('w', { leaseMs: 30_000 })];
  await pass(9);
  differing = [];
  await pass(5);
  differing = [worker('w', { leaseMs: 30_000 })];
  await pass(9);
  expect(lines).toEqual([]);
  await pass(6);
  expect(lines).toHaveLength(1);
});

it('a worker that comes back with other options is a new pair, and one that comes back as it was is not', async () => {
  differing = [worker('w', { leaseMs: 30_000 })];
  await pass(11);
  differing = [];
  await pass(6);
  differing = [worker('w', { leaseMs: 30_000 })];
  await pass(20);
  expect(lines).toHaveLength(1);
  differing = [worker('w', { leaseMs: 20_000 })];
  await pass(9);
  expect(lines).toHaveLength(1);
  await pass(6);
  expect(lines).toEqual([expect.stringContaining('and 30000 in'), expect.stringContaining('and 20000 in')]);
});

it('workers with the same value stand in one line, and a later one gets a line of its own', async () => {
  const many = Array.from({ length: 12 }, (_, i) => worker(`w${i}`, { leaseMs: 30_000 }));
  differing = many;
  await pass(11);
  expect(lines).toEqual([
    expect.stringMatching(/30000 in worker 'w0' .*, worker 'w9' \(host-w9, pid 7\) and 2 more\. /),
  ]);
  differing = [...many, worker('later', { leaseMs: 30_000 })];
  await pass(20);
  expect(lines.slice(1)).toEqual([expect.stringMatching(/30000 in worker 'later' \(host-later, pid 7\)\. /)]);
});

it('of 200 workers that all differ, each is told, and at most ten lines every five minutes', async () => {
  differing = Array.from({ length: 199 }, (_, i) => worker(`w${i}`, { leaseMs: 20_000 + i }));
  await pass(11);
  expect(lines).toHaveLength(10);
  await pass(5);
  expect(lines).toHaveLength(20);
  await pass(200);
  expect(new Set(lines.map((line) => line.match(/, and \d+ in worker '(\w+)'/)![1])).size).toBe(199);
  expect(lines).toHaveLength(199);
});

it('compares only options that both tell, so that another version is no fault', async () => {
  const { leaseMs: _, ...earlier } = optionsOf({});
  const later = { ...optionsOf({}), partitions: 8 };
  differing = [
    { id: 'earlier', host: 'h', pid: 1, options: earlier },
    { id: 'later', host: 'h', pid: 1, options: later },
    { id: 'silent', host: 'h', pid: 1, options: {} },
  ];
  await pass(60);
  expect(lines).toEqual([]);
});

it('an entry of its own from before a restart is nobody else', async () => {
  differing = [worker('own', { leaseMs: 30_000 })];
  await pass(60);
  expect(lines).toEqual([]);
});

it('looks once in five minutes, first at a time of its own', async () => {
  watch = watchOf({}, 'json', () => 0.5);
  await pass(2);
  expect(looks).toBe(0);
  await pass(1);
  expect(looks).toBe(1);
  await pass(60);
  expect(looks).toBe(13);
});

it('a look that Redis does not answer breaks nothing', async () => {
  differing = [worker('w', { leaseMs: 30_000 })];
  const answers = [true, false, true];
  const log = { log() {}, warn: (line: string) => lines.push(line), error() {} };
  const read = async () => {
    if (answers.shift()) return differing;
    throw new Error('away');
  };
  watch = new OptionsWatch('mail', optionsOf({}), read, log, { host: 'api-1', pid: 12 }, clock, () => 0);
  await pass(11);
  expect(answers).toEqual([]);
  expect(lines).toHaveLength(1);
});
