import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './redis-server.js';
import { until } from './wait.js';

/** Adds the seconds that stand in a file to every answer of the wall clock. */
const SHIM = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long shift(void) {
  long seconds = 0;
  FILE *file = fopen(getenv("CLOCK_SHIFT_FILE"), "r");
  if (file) { if (fscanf(file, "%ld", &seconds) != 1) seconds = 0; fclose(file); }
  return seconds;
}
int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(tv, tz);
  if (tv) tv->tv_sec += shift();
  return result;
}
int clock_gettime(clockid_t clock, struct timespec *ts) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, ts);
  if (clock == CLOCK_REALTIME) ts->tv_sec += shift();
  return result;
}
`;

/** A Redis whose wall clock a test can set. */
export interface ShiftedRedis {
  url: string;
  /** Sets the clock so many seconds before (negative) or after the right time. */
  shift(seconds: number): Promise<void>;
  stop(): Promise<void>;
}

/** Why there is none: it needs a C compiler, a loader that preloads, and redis-server as a program of this machine. */
export type NoShiftedRedis = { missing: string };

export async function startShiftedRedis(): Promise<ShiftedRedis | NoShiftedRedis> {
  const directory = mkdtempSync(join(tmpdir(), 'scheduled-queue-clock-'));
  const shim = join(directory, 'clock.so');
  const shiftFile = join(directory, 'shift');
  writeFileSync(shiftFile, '0');
  try {
    writeFileSync(join(directory, 'clock.c'), SHIM);
    execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', shim, join(directory, 'clock.c'), '-ldl'], {
      stdio: 'ignore',
    });
  } catch {
    return { missing: 'no C compiler that makes a shared library' };
  }
  const port = await freePort();
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory],
    {
      stdio: 'ignore',
      env: { ...process.env, LD_PRELOAD: shim, CLOCK_SHIFT_FILE: shiftFile },
    },
  );
  let failed: Error | undefined;
  child.once('error', (error) => {
    failed = error;
  });
  const redis = new Redis(port, { lazyConnect: true, retryStrategy: () => 50, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const stop = async () => {
    redis.disconnect();
    child.kill('SIGKILL');
    if (!failed && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    rmSync(directory, { recursive: true, force: true });
  };
  const timeMs = async () => Number((await redis.time())[0]) * 1_000;
  const answers = () =>
    redis.connect().then(
      () => true,
      () => redis.status === 'ready',
    );
  await until('it answers', () => failed !== undefined || answers());
  if (failed) {
    await stop();
    return { missing: 'no redis-server on PATH' };
  }
  const shift = async (seconds: number) => {
    writeFileSync(shiftFile, String(seconds));
    const shifted = async () => Math.abs((await timeMs()) - Date.now() - seconds * 1_000) < 5_000;
    await until('its clock has moved', shifted);
  };
  try {
    await shift(3_600);
    await shift(0);
  } catch {
    await stop();
    return { missing: 'this redis-server does not see the preloaded clock' };
  }
  return { url: `redis://127.0.0.1:${port}`, shift, stop };
}
