import type { Redis } from 'ioredis';
import { monitorOf } from './monitor.js';

/** The commands that each script sends while something is done, of a Redis that nobody else uses. */
export async function commandsOfScripts(redis: Redis, act: () => Promise<unknown>): Promise<string[][][]> {
  const monitor = await monitorOf(redis);
  const scripts: string[][][] = [];
  const ended = new Promise<void>((resolve) => {
    monitor.on('monitor', (_time: string, [name = '', ...args]: string[], source: string) => {
      const command = [name.toLowerCase(), ...args];
      if (source === 'lua') scripts.at(-1)!.push(command);
      else if (command[0]!.startsWith('eval')) scripts.push([]);
      else if (command[0] === 'echo') resolve();
    });
  });
  await act();
  await redis.echo('over');
  await ended;
  monitor.disconnect();
  return scripts;
}
