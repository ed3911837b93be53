import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** Longer than Redis takes to count what each of its clients holds. */
const RECOUNT_MS = 1_200;
/** What share of the data two readings may differ by. */
const STILL = 0.0005;

const COMMAND_STATS = /^cmdstat_([^|:]+)\S*?:calls=(\d+),usec=(\d+)/gm;
/** Beside scripts, what the clients of contestants send. No script of theirs does, so Redis' statistics, which do not tell who sent a command, are enough. */
const NEVER_INSIDE = new Set([
  'ping',
  'hello',
  'client',
  'select',
  'subscribe',
  'ssubscribe',
  'psubscribe',
  'bzpopmin',
  'script',
]);

export interface CommandsDone {
  /** Commands that came from clients; a script is one. */
  sent: number;
  /** How long scripts ran, the commands inside them included. */
  scriptMicros: number;
  /** Commands that scripts sent. */
  inside: number;
}

/** Asks the Redis of a run what it has done, over a connection of its own. */
export class RedisProbe {
  private readonly client: Redis;

  constructor(private readonly url: string) {
    this.client = new Redis(url);
  }

  /** CPU time that the server process has used, in µs. */
  async cpuMicros(): Promise<number> {
    const info = await this.client.info('cpu');
    return (fieldOf(info, 'used_cpu_sys') + fieldOf(info, 'used_cpu_user')) * 1e6;
  }

  /** What clients have had Redis do since it started, this probe's own questions not included. */
  async commands(): Promise<CommandsDone> {
    const done: CommandsDone = { sent: 0, scriptMicros: 0, inside: 0 };
    for (const [, name, calls, micros] of (await this.client.info('commandstats')).matchAll(COMMAND_STATS)) {
      if (name === 'info') continue;
      const isScript = /^(eval|fcall)/.test(name!);
      if (isScript) done.scriptMicros += Number(micros);
      if (isScript || NEVER_INSIDE.has(name!)) done.sent += Number(calls);
      else done.inside += Number(calls);
    }
    return done;
  }

  /** Bytes that the data takes: what clients' buffers take is left out. Redis counts those anew once a second, so until it stands still. */
  async dataBytes(): Promise<number> {
    for (let last = 0; ; ) {
      const info = await this.client.info('memory');
      const bytes = fieldOf(info, 'used_memory') - fieldOf(info, 'mem_clients_normal');
      if (Math.abs(bytes - last) < STILL * bytes) return bytes;
      last = bytes;
      await setTimeout(RECOUNT_MS);
    }
  }

  /** Writes a snapshot: for how long the fork held Redis, how long all of it took, how large the file is, and its folder. */
  async snapshot(): Promise<{ forkMs: number; seconds: number; bytes: number; directory: string }> {
    const startedAt = performance.now();
    await this.client.bgsave();
    await this.untilOver('rdb_bgsave_in_progress');
    const seconds = (performance.now() - startedAt) / 1_000;
    const [, directory] = (await this.client.config('GET', 'dir')) as [string, string];
    const forkMs = fieldOf(await this.client.info('stats'), 'latest_fork_usec') / 1_000;
    return { forkMs, seconds, bytes: statSync(join(directory, 'dump.rdb')).size, directory };
  }

  /** From now on Redis writes an AOF, which it does not rewrite by itself. */
  async writeAof(): Promise<void> {
    await this.client.config('SET', 'auto-aof-rewrite-percentage', '0');
    await this.client.config('SET', 'appendonly', 'yes');
    await this.untilOver('aof_rewrite_in_progress');
  }

  async aofBytes(): Promise<number> {
    return fieldOf(await this.client.info('persistence'), 'aof_current_size');
  }

  async connections(): Promise<number> {
    return fieldOf(await this.client.info('clients'), 'connected_clients') - 1;
  }

  async version(): Promise<string> {
    return /redis_version:(\S+)/.exec(await this.client.info('server'))![1]!;
  }

  /** From now on remembers every command that takes this long, 0 for all; forgets what it remembers so far. */
  async watchSlow(fromMicros: number): Promise<void> {
    await this.client.config('SET', 'slowlog-max-len', 100_000);
    await this.client.config('SET', 'slowlog-log-slower-than', fromMicros);
    await this.client.slowlog('RESET');
  }

  /** How long each script of those remembered ran, in µs. */
  async scriptMicros(): Promise<number[]> {
    const entries = (await this.client.slowlog('GET', -1)) as [number, number, number, string[]][];
    return entries.filter(([, , , [command]]) => /^evalsha$/i.test(command!)).map(([, , micros]) => micros);
  }

  /** Counts the commands that clients send from now on, those inside scripts and of this probe not included. */
  async countCommands(): Promise<CommandCounter> {
    const ownName = await this.client.client('ID').then(async (id) => addressOf(await this.client.client('LIST'), id));
    const monitor = await new Redis(this.url).monitor();
    return new CommandCounter(monitor as unknown as Monitor, ownName);
  }

  close(): void {
    this.client.disconnect();
  }

  private async untilOver(field: string): Promise<void> {
    while (fieldOf(await this.client.info('persistence'), field) !== 0) await setTimeout(50);
  }
}

interface Monitor {
  on(event: 'monitor', listener: (time: string, args: string[], source: string) => void): void;
  disconnect(): void;
}

export class CommandCounter {
  private count = 0;

  constructor(
    private readonly monitor: Monitor,
    ownAddress: string,
  ) {
    monitor.on('monitor', (_time, _args, source) => {
      if (source !== 'lua' && source !== ownAddress) this.count++;
    });
  }

  /** How many came since the last call. */
  take(): number {
    const { count } = this;
    this.count = 0;
    return count;
  }

  close(): void {
    this.monitor.disconnect();
  }
}

function fieldOf(info: string, field: string): number {
  const found = new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info);
  if (!found) throw new Error(`INFO has no field '${field}'; this benchmark needs Redis 7 or Valkey.`);
  return Number(found[1]);
}

function addressOf(clientList: unknown, id: number): string {
  return new RegExp(`^id=${id} addr=(\\S+)`, 'm').exec(String(clientList))![1]!;
}
