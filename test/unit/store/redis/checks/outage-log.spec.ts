import { expect, it } from '@jest/globals';
import { OutageLog } from '../../../../../lib/store/redis/checks/outage-log.js';

/** What Redis 6.2 and 7 answer, and how ioredis and the check of the database put it. */
it.each([
  ['correct user, password and database', 'WRONGPASS invalid username-password pair or user is disabled.'],
  ['correct user, password and database', 'NOAUTH Authentication required.'],
  ['correct user, password and database', 'ERR AUTH <password> called without any password configured'],
  ['correct user, password and database', 'database 20: ERR DB index is out of range'],
  ['correct user, password and database', 'database 1: ERR SELECT is not allowed in cluster mode'],
  ['trying again', 'connect ECONNREFUSED 127.0.0.1:6379'],
  ['trying again', 'LOADING Redis is loading the dataset in memory'],
])("says '%s' first where the reason is '%s'", (said, reason) => {
  const lines: string[] = [];
  const log = { log() {}, warn: (line: string) => lines.push(line), error() {} };
  new OutageLog(log).lost({}, `${reason}, at redis://redis:6379/0`);
  expect(lines).toEqual([
    expect.stringContaining(`Redis cannot be reached (${reason}, at redis://redis:6379/0); ${said}`),
  ]);
});
