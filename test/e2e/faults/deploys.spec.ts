import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { newPrefix, queueUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

// Processes of two builds of an application, one of which has changed the payload of its jobs twice.

/** 10 000 are asked for once in a while: DEPLOYED_JOBS=10000. */
const JOBS = Number(process.env.DEPLOYED_JOBS ?? 2_000);
const PROCESSES = 3;
const SOON_MS = 200;
const processes = new Set<ChildProcess>();

afterEach(async () => {
  await stopApps();
  await Promise.all([...processes].map((child) => ended(child, 'SIGKILL')));
});

interface Run {
  id: string;
  name: string;
  version: number;
  build: number;
  attempt: number;
  cents: number;
}

type Build = 1 | 3;

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal);
    await once(child, 'exit');
  }
  processes.delete(child);
}

/** A fleet of processes whose builds are replaced one after the other, while all of them schedule. */
class Fleet {
  readonly prefix = newPrefix();
  readonly history = join(mkdtempSync(join(tmpdir(), 'scheduled-queue-deploys-')), 'history.jsonl');
  private running: ChildProcess[] = [];
  private started = 0;
  scheduled = 0;

  async start(build: Build): Promise<void> {
    const child = fork('dist-test/deployed.js', {
      env: {
        ...process.env,
        REDIS: queueUrl(),
        PREFIX: this.prefix,
        WORKER_ID: `build-${build}-${++this.started}`,
        HISTORY: this.history,
        BUILD: String(build),
        NODE_OPTIONS: '',
      },
      stdio: ['ignore', process.env.TEST_LOGS ? 'inherit' : 'ignore', 'inherit', 'ipc'],
    });
    processes.add(child);
    this.running.push(child);
    expect((await once(child, 'message'))[0]).toBe('ready');
  }

  /** The processes of the build before end once those of this one run, one by one. */
  async deploy(build: Build, jobs: number): Promise<void> {
    const before = this.running.splice(0);
    for (const old of before) {
      await this.start(build);
      // Some of these are due when the process that has scheduled them is gone.
      await this.schedule(Math.ceil(jobs / before.length), [...this.running, old], SOON_MS);
      // As Kubernetes does: it waits for its jobs.
      await ended(old, 'SIGTERM');
    }
  }

  /** All of these schedule at the same time. */
  async schedule(jobs: number, running: readonly ChildProcess[] = this.running, delayMs = 0): Promise<void> {
    const count = Math.ceil(jobs / running.length);
    await Promise.all(
      running.map(async (child) => {
        const answered = once(child, 'message');
        child.send({ from: this.scheduled, count, delayMs });
        this.scheduled += count;
        expect((await answered)[0]).toEqual({ scheduled: count });
      }),
    );
  }

  runs(): Run[] {
    const lines = readFileSync(this.history, 'utf8').split('\n');
    return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
  }
}

it('a rolling deploy, its rollback and the next one lose no job, and fail none for its version', async () => {
  const fleet = new Fleet();
  const { inspector } = await startApp([], { prefix: fleet.prefix, role: 'producer' });
  for (let i = 0; i < PROCESSES; i++) await fleet.start(1);
  await fleet.schedule(JOBS / 10);
  await fleet.deploy(3, JOBS / 4);
  await fleet.schedule(JOBS / 10);
  await fleet.deploy(1, JOBS / 4);
  // The rollback: what the newer build has left waits, and holds nobody up.
  await fleet.schedule(JOBS / 10);
  const left = await until('the older build has run what it can', async () => {
    const [one, ...others] = await inspector.versions('order');
    return one?.version === 3 && one.active === 0 && others.length === 0 && one;
  });
  expect(left.waiting).toBeGreaterThan(0);
  const [job] = await inspector.list('due', { limit: 1 });
  expect(job).toMatchObject({ name: 'order', version: 3 });
  expect(await inspector.explain(job!)).toMatchObject({
    code: 'no-handler',
    message: expect.stringContaining('it has version 3, and the workers that run at present handle version 1'),
  });
  await fleet.deploy(3, JOBS / 4);
  await until('all have run', async () => (await inspector.versions('order')).length === 0);

  const runs = fleet.runs();
  expect(fleet.scheduled).toBeGreaterThanOrEqual(JOBS);
  expect(runs.map(({ cents }) => cents).sort((a, b) => a - b)).toEqual(
    Array.from({ length: fleet.scheduled }, (_, i) => 100 * i),
  );
  // Which build has run which version.
  const kinds = new Set(runs.map(({ build, version, name }) => `${build} ran ${version} of ${name}`));
  expect([...kinds].sort()).toEqual(['1 ran 1 of order', '3 ran 1 of order', '3 ran 3 of order']);
  expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
  const { scheduled, completed, failed, dead, recovered } = await inspector.stats();
  expect({ scheduled, completed, failed, dead, recovered }).toEqual({
    scheduled: fleet.scheduled,
    completed: fleet.scheduled,
    failed: 0,
    dead: 0,
    recovered: 0,
  });
}, 120_000);
