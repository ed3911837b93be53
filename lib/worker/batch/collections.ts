import type { Clock } from '../../core/clock.js';
import { isReadable } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';
import type { BatchHandler } from '../run/job-handler.js';
import { limitsOf } from '../run/run-limits.js';

/** The most jobs of batch handlers that a worker holds: each turn that renews leases names all of them. */
const MOST_IN_HAND = 5_000;

/** A claimed job that waits for the call of its handler. Its `timeoutMs` counts from the call, so it does not run yet. */
export interface CollectedJob {
  readonly claim: ClaimedJob;
  /** When it was asked for, and when it came: times of `clock.now()`. */
  readonly askedAt: number;
  readonly collectedAt: number;
}

/** A call that only waits for a place. */
export interface ReadyCall {
  readonly handler: BatchHandler;
  readonly jobs: CollectedJob[];
}

/** What is known of one batch handler. */
interface Collection {
  readonly handler: BatchHandler;
  /** For its next call, in claim order: fewer than the call takes. */
  filling: CollectedJob[];
  /** How many of its calls are under way. */
  calls: number;
}

/**
 * The jobs of batch handlers that one worker has claimed, until their calls begin, and how many calls are under way. They take no place:
 * a call does, once it begins. A job on its last attempt, if that is not its first, and a suspect have a call each, so that one bad job
 * takes no others to the dead letters.
 */
export class Collections {
  private readonly byName = new Map<string, Collection>();
  private ready: ReadyCall[] = [];
  /** The ids of the jobs that wait for their call. */
  private readonly ids = new Set<string>();
  private inHand = 0;

  constructor(
    handlers: Iterable<BatchHandler>,
    /** Of the queue: what its places weigh, and how many crashes a job survives. */
    private readonly settings: { readonly concurrency: number; readonly maxCrashes: number },
    private readonly clock: Clock,
  ) {
    for (const handler of handlers) this.byName.set(handler.name, { handler, filling: [], calls: 0 });
  }

  /** True while jobs wait for their call. */
  get any(): boolean {
    return this.ids.size > 0;
  }

  /** The jobs that wait for their call. */
  claims(): ClaimedJob[] {
    return [...this.ready.flatMap(({ jobs }) => jobs), ...this.filling()].map(({ claim }) => claim);
  }

  /** The weight of places that running calls take. */
  get weight(): number {
    let weight = 0;
    for (const { handler, calls } of this.byName.values()) weight += calls * handler.settings.weight;
    return weight;
  }

  /** The weight of places that is kept for calls that could begin: they come before jobs that are claimed next. */
  get reserved(): number {
    if (this.ready.length === 0) return 0;
    let weight = 0;
    for (const collection of this.byName.values())
      weight += Math.min(this.readyCalls(collection), this.callsLeft(collection)) * collection.handler.settings.weight;
    return weight;
  }

  /**
   * How many more jobs of a handler may be claimed: see `HandlerCapacity`. None where more of its calls are ready than may begin: a job that
   * was to join the others may have to go alone, and so adds one to them.
   */
  freeOf(name: string): number {
    const collection = this.byName.get(name)!;
    const { size } = collection.handler.settings.batch;
    const calls = this.callsLeft(collection) - this.readyCalls(collection);
    if (calls < 0) return 0;
    const left = Math.max(0, MOST_IN_HAND - this.inHand);
    const mayJoin = collection.filling.length > 0 ? size - collection.filling.length : 0;
    return Math.min(mayJoin, left) + size * Math.min(calls, Math.floor(left / size));
  }

  /** Takes in what was claimed; false for a job that no batch handler has. `isAlone`: it gets a call of its own in any case. */
  add(claim: ClaimedJob, askedAt: number, isAlone = false): boolean {
    const { envelope } = claim;
    const collection = isReadable(envelope) ? this.byName.get(envelope.name) : undefined;
    if (!collection) return false;
    const { handler } = collection;
    const job = { claim, askedAt, collectedAt: this.clock.now() };
    this.inHand++;
    this.ids.add(claim.id);
    if (isAlone || this.goesAlone(claim, handler)) this.ready.push({ handler, jobs: [job] });
    else {
      collection.filling.push(job);
      if (collection.filling.length === handler.settings.batch.size) this.close(collection);
    }
    return true;
  }

  /** Closes the calls whose first job has waited for `waitMs`: no job joins them any more, and they only wait for a place. */
  closeDue(): void {
    const now = this.clock.now();
    for (const collection of this.byName.values()) if (this.dueAt(collection) <= now) this.close(collection);
  }

  /** When the next jobs have waited for long enough, a time of `clock.now()`, and the first of them. */
  get nextDue(): { readonly at: number; readonly first: CollectedJob } | undefined {
    let next: { at: number; first: CollectedJob } | undefined;
    for (const collection of this.byName.values()) {
      const at = this.dueAt(collection);
      if (at < (next?.at ?? Number.POSITIVE_INFINITY)) next = { at, first: collection.filling[0]! };
    }
    return next;
  }

  /** Whether others may join the next call of this name. */
  isFilling(name: string): boolean {
    return (this.byName.get(name)?.filling.length ?? 0) > 0;
  }

  /**
   * Begins the call that has waited for longest, if there is a place for it; a call whose handler has reached its `concurrency` is passed
   * over. A heavy call whose turn has come waits for its places, and no lighter one goes first.
   */
  begin(placesLeft: number): ReadyCall | undefined {
    const index = this.ready.findIndex(({ handler }) => this.callsLeft(this.byName.get(handler.name)!) > 0);
    const next = this.ready[index];
    if (!next || next.handler.settings.weight > placesLeft) return undefined;
    this.ready.splice(index, 1);
    for (const { claim } of next.jobs) this.ids.delete(claim.id);
    this.byName.get(next.handler.name)!.calls++;
    return next;
  }

  /** A call is over: its place is free. */
  end({ handler, jobs }: ReadyCall): void {
    this.byName.get(handler.name)!.calls--;
    this.inHand -= jobs.length;
  }

  /** Takes a job out: its lease is lost, or somebody has cancelled it. `undefined` where no call waits for it. */
  remove(id: string): ClaimedJob | undefined {
    if (!this.ids.delete(id)) return undefined;
    for (const jobs of [
      ...this.ready.map((call) => call.jobs),
      ...[...this.byName.values()].map(({ filling }) => filling),
    ]) {
      const index = jobs.findIndex(({ claim }) => claim.id === id);
      if (index < 0) continue;
      this.inHand--;
      const [{ claim }] = jobs.splice(index, 1) as [CollectedJob];
      this.ready = this.ready.filter((call) => call.jobs.length > 0);
      return claim;
    }
    return undefined;
  }

  /** Takes out all jobs that wait for their call. */
  clear(): ClaimedJob[] {
    const claims = this.claims();
    this.inHand -= claims.length;
    this.ready = [];
    this.ids.clear();
    for (const collection of this.byName.values()) collection.filling = [];
    return claims;
  }

  private filling(): CollectedJob[] {
    return [...this.byName.values()].flatMap(({ filling }) => filling);
  }

  private close(collection: Collection): void {
    this.ready.push({ handler: collection.handler, jobs: collection.filling });
    collection.filling = [];
  }

  private dueAt({ filling: [first], handler }: Collection): number {
    return first ? first.collectedAt + handler.settings.batch.waitMs : Number.POSITIVE_INFINITY;
  }

  private callsLeft({ handler, calls }: Collection): number {
    return Math.min(handler.settings.concurrency, this.settings.concurrency) - calls;
  }

  private readyCalls({ handler }: Collection): number {
    let count = 0;
    for (const call of this.ready) if (call.handler === handler) count++;
    return count;
  }

  private goesAlone({ attempt, crashes, envelope }: ClaimedJob, { settings }: BatchHandler): boolean {
    const { maxCrashes } = this.settings;
    if (maxCrashes > 1 && crashes >= maxCrashes - 1) return true;
    return attempt > 1 && isReadable(envelope) && attempt >= limitsOf(envelope, settings).maxAttempts;
  }
}
