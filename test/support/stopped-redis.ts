import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './redis-server.js';

/** Answers every question for the wall clock with the microseconds that stand in a file, which is mapped into memory. */
const SHIM = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
static volatile int64_t *stopped;
static int64_t now_us(void) {
  if (!stopped) {
    int fd = open(getenv("STOPPED_CLOCK_FILE"), O_RDONLY);
    stopped = mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
  }
  return *stopped;
}
int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
  if (tv) { int64_t us = now_us(); tv->tv_sec = us / 1000000; tv->tv_usec = us % 1000000; }
  return 0;
}
int clock_gettime(clockid_t clock, struct timespec *ts) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  if (clock != CLOCK_REALTIME) return real(clock, ts);
  int64_t us = now_us();
  ts->tv_sec = us / 1000000;
  ts->tv_nsec = (us % 1000000) * 1000;
  return 0;
}
`;

/** A Redis whose wall clock stands still until a test sets it: two questions between are answered with the same instant. */
export interface StoppedRedis {
  url: string;
  setTime(epochMs: number): void;
  stop(): Promise<void>;
}

/** Why this machine cannot stop a Redis' clock; `undefined` where it can. */
export function whyNoStoppedRedis(): string | undefined {
  for (const [program, args] of [
    ['gcc', ['--version']],
    ['redis-server', ['--version']],
  ] as const) {
    try {
      execFileSync(program, args, { stdio: 'ignore' });
    } catch {
      return `there is no ${program} on PATH`;
    }
  }
  return process.platform === 'linux' ? undefined : `${process.platform} preloads no libraries`;
}

/** Throws where this machine has no C compiler, no loader that preloads, or no `redis-server` on PATH. */
export async function startStoppedRedis(epochMs: number): Promise<StoppedRedis> {
  const directory = mkdtempSync(join(tmpdir(), 'scheduled-queue-stopped-'));
  const shim = join(directory, 'clock.so');
  const clockFile = join(directory, 'now');
  writeFileSync(clockFile, Buffer.alloc(8));
  const file = openSync(clockFile, 'r+');
  const setTime = (ms: number) => {
    const us = Buffer.alloc(8);
    us.writeBigInt64LE(BigInt(ms) * 1_000n);
    writeSync(file, us, 0, 8, 0);
  };
  setTime(epochMs);
  writeFileSync(join(directory, 'clock.c'), SHIM);
  execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', shim, join(directory, 'clock.c'), '-ldl'], { stdio: 'pipe' });
  const port = await freePort();
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory],
    { stdio: 'ignore', env: { ...process.env, LD_PRELOAD: shim, STOPPED_CLOCK_FILE: clockFile } },
  );
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  failed.catch(() => {});
  const redis = new Redis(port, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const [seconds] = await Promise.race([redis.time(), failed]);
  redis.disconnect();
  if (Number(seconds) !== Math.floor(epochMs / 1_000))
    throw new Error('This redis-server does not see the preloaded clock.');
  const stop = async () => {
    closeSync(file);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    rmSync(directory, { recursive: true, force: true });
  };
  return { url: `redis://127.0.0.1:${port}`, setTime, stop };
}
