import { afterEach, expect, it, jest } from '@jest/globals';
import { ClockLog } from '../../../../../lib/store/redis/checks/clock-log.js';

afterEach(() => {
  jest.restoreAllMocks();
});

it('tells a jump once, though each queue notices it; its way back, and one after a minute, anew', () => {
  const lines: string[] = [];
  const log = new ClockLog({ log() {}, warn: (line) => lines.push(line), error() {} });
  const now = jest.spyOn(performance, 'now');
  const jumped = (atMs: number, byMs: number) => {
    now.mockReturnValue(atMs);
    log.jumped(byMs);
    return lines.splice(0);
  };
  const right = 'Keep the clocks of Redis and of its replicas right by NTP.';
  const ahead =
    'The clock of Redis went 3600 s ahead: jobs are due, and leases end, that much earlier (or this machine was suspended for so long).';
  expect(jumped(0, 3_599_999.4)).toEqual([`${ahead} ${right}`]);
  expect(jumped(59_000, 3_600_000)).toEqual([]);
  expect(jumped(59_500, -3_600_000)).toEqual([
    `The clock of Redis went back by 3600 s: jobs that wait are that much late. ${right}`,
  ]);
  expect(jumped(59_600, -3_600_000)).toEqual([]);
  // As where the queues of a cluster lie on nodes that went apart.
  expect(jumped(59_700, 3_600_000)).toEqual([]);
  expect(jumped(119_600, -3_600_000)).toHaveLength(1);
});
