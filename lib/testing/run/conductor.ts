import { describe } from '../../core/read/describe.js';
import { ScheduledQueueTestError } from '../errors.js';
import { RunLog } from '../look/run-log.js';
import { EmptyInstants } from '../time/empty-instants.js';
import { EventLoop, settled } from '../time/event-loop.js';
import { type Instant, VirtualClock } from '../time/virtual-clock.js';
import { Watchdog } from '../time/watchdog.js';
import type { ConductedSession } from './conducted-session.js';
import { fallsAsleep } from './falling-asleep.js';
import { Faults } from './faults.js';
import { failure, type Notices, titleOf } from './notices.js';
import type { TestCall } from './test-call.js';
import { callOfHandler } from './tested-handlers.js';

/** A loop of jobs that schedule each other for now would never end. */
const MOST_RUNS_AT_AN_INSTANT = 100_000;

/** What the conductor asks of the workers of one module instance. */
export interface ConductedFleet {
  /** The sessions of its workers, in the order of their handlers. */
  readonly conducted: readonly ConductedSession[];
  /** How many jobs were claimed so far, by workers and by pops. */
  readonly claimed: number;
  /** When time alone changes something of its queues next. */
  instants(): Iterable<Instant>;
}

/**
 * Moves the time of an application under test, and lets its jobs run: one run at a time, in claim order, queue by queue. Nothing
 * happens but inside one of its calls; the next call waits for the one before.
 */
export class Conductor {
  readonly clock = new VirtualClock();
  readonly faults = new Faults();
  readonly log = new RunLog();
  readonly fleets: ConductedFleet[] = [];
  /** Called at the end of each call of the tester: time may have changed what no event tells. */
  readonly afterCall: (() => void)[] = [];
  private readonly watchdog = new Watchdog();
  private before: Promise<unknown> = Promise.resolve();
  /** The call that goes on now: a new object each time that it goes on, so that a sleep begins its patience anew. */
  private current?: { readonly call: TestCall };
  /** A handler has called what would wait for it. */
  private misuse?: ScheduledQueueTestError;
  /** Calls whose handlers have slept, and go on. */
  private readonly woken = new Set<TestCall>();
  private runsAtInstant = 0;
  private readonly eventLoop = new EventLoop();
  private callsBegun = 0;
  private callsEnded = 0;

  constructor(
    private readonly notices: Notices,
    private readonly empty = new EmptyInstants(),
    private readonly mostRuns = MOST_RUNS_AT_AN_INSTANT,
  ) {}

  /** Runs what is due, and then, up to `untilMs`, what becomes due. */
  advance(call: string, untilMs: () => number): Promise<void> {
    return this.alone(call, async () => {
      const endMs = untilMs();
      await this.drain();
      while (this.clock.wallNow() < endMs) {
        const next = this.next();
        await this.moveTo(Math.min(endMs, next.atMs));
        await this.drain();
        await this.passed(call, next);
      }
    });
  }

  /** One run that no queue knows: `start` is given who follows its call up to its end, while time goes on for its handler. */
  single<T>(name: string, start: (follow: (call: TestCall) => Promise<TestCall>) => Promise<T>): Promise<T> {
    return this.alone(name, () =>
      start(async (first) => {
        let call = await this.follow(first);
        for (; !call.isOver; call = call.second ?? call)
          if (call.sleepsNow) {
            const { next } = this.clock;
            await this.moveTo(next.atMs);
            await this.passed(name, next);
          } else await this.follow(call);
        return call;
      }),
    );
  }

  /** How many calls there were; `undefined` while one is under way. */
  idle(): string | undefined {
    return this.callsBegun === this.callsEnded ? `after ${this.callsEnded} calls` : undefined;
  }

  /** Time goes on for the handler that calls this. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const call = callOfHandler.getStore();
    if (!call || call.isOver)
      throw new ScheduledQueueTestError(
        'tester.sleep: called outside a handler, where nothing waits for it. Call tester.advance there.',
      );
    return call.sleep(ms, signal);
  }

  /** The application is closed. */
  end(): void {
    this.notices.unused(this.faults.unused());
  }

  readonly wakes = (call: TestCall): void => {
    this.woken.add(call);
  };

  private async alone<T>(call: string, work: () => Promise<T>): Promise<T> {
    const caller = callOfHandler.getStore();
    if (caller && !caller.isOver) throw this.refusedInside(caller, call);
    this.callsBegun++;
    const turn = this.before.then(async () => {
      this.watchdog.watch(() => this.current, {
        slow: () => this.notices.slow(this.current!.call),
        hangs: () => this.hangs(),
      });
      try {
        this.runsAtInstant = 0;
        this.empty.startOver();
        this.misuse = undefined;
        this.eventLoop.hasTurned();
        return await work();
      } catch (error) {
        await this.tell();
        throw error;
      } finally {
        this.callsEnded++;
        this.watchdog.rest();
        for (const look of this.afterCall) look();
      }
    });
    this.before = turn.catch(() => {});
    return await turn;
  }

  /** A handler may swallow its error, or be tried again; the test is to fail all the same. */
  private refusedInside(caller: TestCall, call: string): ScheduledQueueTestError {
    this.misuse ??= failure(
      caller,
      `tester.${call} was called inside ${titleOf(caller)}, and would wait for that handler forever. Call tester.sleep there to let time go on.`,
    );
    return this.misuse;
  }

  /** What has ended is told to the queues, also where a call goes no further. */
  private async tell(): Promise<void> {
    for (const fleet of this.fleets) for (const session of fleet.conducted) session.letGo();
    await settled();
  }

  /** When time alone changes something next, and what. */
  private next(): Instant {
    const { next } = this.clock;
    // A timer that is overdue rings now.
    let first: Instant = { ...next, atMs: Math.max(next.atMs, this.clock.wallNow()) };
    for (const fleet of this.fleets)
      for (const instant of fleet.instants()) if (instant.atMs < first.atMs) first = instant;
    return first;
  }

  /** An instant is over. */
  private async passed(call: string, { because }: Instant): Promise<void> {
    const claimed = this.fleets.reduce((sum, fleet) => sum + fleet.claimed, 0);
    this.empty.passed(call, this.clock.wallNow(), claimed, because);
    await this.eventLoop.turnNowAndThen();
  }

  private async moveTo(ms: number): Promise<void> {
    if (ms > this.clock.wallNow()) this.runsAtInstant = 0;
    this.clock.moveTo(ms);
    for (let ring = this.clock.takeDue(); ring; ring = this.clock.takeDue()) {
      ring();
      if (this.woken.size === 0) await settled();
      await this.followWoken();
    }
  }

  /** Until nothing is due that may run. */
  private async drain(): Promise<void> {
    // What was promised without being awaited may still be on its way.
    for (let idle = 0; idle < 2; idle++) {
      await settled();
      await this.followWoken();
      for (const fleet of this.fleets)
        for (const session of fleet.conducted)
          for (;;) {
            const { call, isIdle } = await session.claim();
            if (call) await this.run(call);
            if (isIdle) break;
            idle = 0;
          }
    }
  }

  private async run(call: TestCall): Promise<void> {
    await this.follow(call);
    await this.eventLoop.turnNowAndThen();
    this.runsAtInstant += call.runs.length;
    if (this.runsAtInstant > this.mostRuns)
      throw failure(
        call,
        `More than ${this.mostRuns} runs at one instant, ${describe(new Date(this.clock.wallNow()))}; the last one is ${titleOf(call)}. Does its handler schedule the next job for now, each time? Give that job a delay.`,
      );
  }

  private async followWoken(): Promise<void> {
    for (const call of this.woken) {
      this.woken.delete(call);
      await this.follow(call);
    }
  }

  /** Lets a call go on until it yields; and where its job has completed and is to be delivered once more, the call of that. */
  private async follow(call: TestCall): Promise<TestCall> {
    this.empty.startOver();
    while (!call.isOver && !(call.sleepsNow && (await fallsAsleep(call)))) {
      if (call.isOver || call.sleepsNow) continue;
      this.current = { call };
      try {
        await call.yielded();
      } finally {
        this.current = undefined;
      }
      if (this.misuse) throw this.misuse;
    }
    return call.second ? await this.follow(call.second) : call;
  }

  private hangs(): void {
    const call = this.current?.call;
    call?.giveUp(
      failure(
        call,
        `${titleOf(call, 'The')} has not ended after 5 s of real time. Virtual time stands still while it runs: if it waits for a timer, let it call tester.sleep, or replace what it waits for.`,
      ),
    );
  }
}
