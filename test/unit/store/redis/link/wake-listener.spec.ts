import { EventEmitter } from 'node:events';
import { expect, it } from '@jest/globals';
import { OutageLog } from '../../../../../lib/store/redis/checks/outage-log.js';
import type { Client } from '../../../../../lib/store/redis/link/client.js';
import { WakeListener } from '../../../../../lib/store/redis/link/wake-listener.js';

it('an outage is not told with the reason of the one before it', () => {
  const lines: string[] = [];
  const log = { log() {}, warn: (line: string) => lines.push(line), error() {} };
  const options = { host: 'redis', port: 6379 };
  const client = Object.assign(new EventEmitter(), { options, status: 'connecting', disconnect() {} });
  const listener = new WakeListener(client as unknown as Client, new OutageLog(log));
  client.emit('error', new Error('WRONGPASS invalid username-password pair or user is disabled.'));
  client.emit('close');
  client.emit('ready');
  client.emit('close');
  listener.close();
  expect(lines).toEqual([
    expect.stringContaining('(WRONGPASS '),
    'Redis cannot be reached (the connection for messages was closed); trying again until it is back.',
  ]);
});
