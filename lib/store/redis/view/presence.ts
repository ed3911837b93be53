import { FIRST_VERSION } from '../../../core/job/job-versions.js';
import type { SharedOptions } from '../../../core/options/shared-options.js';
import { weightOfJobs } from '../../call-size.js';
import type { LiveWorker } from '../../job-store.js';
import { takesAllVersions } from '../codec/crew-name.js';
import { decodeOptions } from '../codec/listed-options.js';
import { readVersionedName, versionedName, withoutVersions } from '../codec/versioned-name.js';
import { decodeTraits } from '../codec/worker-traits.js';
import { handlesKey, optionsKey, processOf, type QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import { ask } from '../scripts/bound-script.js';
import { differingScript, handledScript, workersScript } from '../scripts/look/contract.js';

/** How many running jobs one call counts, fewer where they have reported much progress. With more, the numbers are of several moments. */
const JOBS_A_CALL = 1_000;

/** A session lists itself every quarter of its own lease, which may be longer than the lease here: up to 40 minutes is seen. */
const LISTED_WITHIN_MS = 600_000;

const UNKNOWN = { running: 0, concurrency: 0, weight: 0, handles: [] };

/** A live worker that lists other options than somebody. */
export interface DifferingWorker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly options: SharedOptions;
}

/** Who works at one queue. Those that were there within `withinMs` count as alive. */
export class RedisPresence {
  constructor(
    private readonly connection: QueueLink,
    private readonly keys: QueueKeys,
    private readonly options: { commandTimeoutMs: number; withinMs: number },
  ) {}

  async handledBy(name: string, version?: number): Promise<{ count: number; workers: string[] }> {
    const { keys, options } = this;
    const args = { base: keys.base, name: versionedName(name, version), withinMs: options.withinMs };
    const [count, ...workers] = await ask(this.connection, handledScript(keys), args, this.giveUpAt());
    return { count: Number(count), workers: workers.map(processOf) };
  }

  /** In ascending order. */
  async versionsHandled(name: string): Promise<number[]> {
    const crews = new Set((await this.readAll()).alive.map(({ crew }) => crew));
    const versions = new Set<number>();
    for (const crew of crews) {
      if (takesAllVersions(crew)) continue;
      const handled = (await this.namesOf(crew)).map(readVersionedName).filter((each) => each.name === name);
      for (const { version = FIRST_VERSION } of handled) versions.add(version);
    }
    return [...versions].sort((a, b) => a - b);
  }

  /** By id. */
  async workers(): Promise<LiveWorker[]> {
    const { alive, running } = await this.readAll();
    const crews = new Map<string, Promise<string[]>>();
    const optionsOf = new Map<string, SharedOptions>();
    const found = new Map<string, LiveWorker & { names: Set<string> }>();
    // Of two entries of one worker the newer one, which comes first, says where it is.
    for (const { crew, session, worker: id, pid, traits, host, lastSeenAtMs } of alive) {
      if (!crews.has(crew)) crews.set(crew, this.namesOf(crew));
      const names = await crews.get(crew)!;
      const { version, concurrency, calls, optionsDigest = '', stuck } = decodeTraits(traits, names);
      const options = optionsOf.get(optionsDigest) ?? (await this.optionsOf(optionsDigest));
      optionsOf.set(optionsDigest, options);
      const known = found.get(id) ?? { ...UNKNOWN, id, host, pid, version, options, lastSeenAtMs, names: new Set() };
      for (const name of withoutVersions(names)) known.names.add(name);
      // The session of the handlers; a worker that handles other names since a moment ago has two, of which the newer one counts.
      if (session === id && known.concurrency === 0) {
        known.concurrency = concurrency;
        known.stuck = stuck;
        for (const [name, count] of running.get(session) ?? []) known.weight += weightOfJobs(count, calls.get(name));
      }
      found.set(id, known);
    }
    for (const [session, counts] of running) {
      const worker = found.get(processOf(session));
      if (worker) for (const [, count] of counts) worker.running += count;
    }
    return [...found.values()]
      .map(({ names, ...worker }) => ({ ...worker, handles: [...names].sort() }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** The live workers that list other options than those of this digest, each once. Whether one is alive, its own lease says. */
  async differing(digest: string): Promise<DifferingWorker[]> {
    const args = { base: this.keys.base, digest, withinMs: LISTED_WITHIN_MS };
    const listed = await ask(this.connection, differingScript(this.keys), args, this.giveUpAt());
    const found = new Map<string, DifferingWorker>();
    for (let i = 0; i < listed.length; i += 3) {
      const { worker: id, host, pid } = decodeMember(listed[i]!);
      const options = decodeOptions(listed[i + 2]!);
      const isAlive = Number(listed[i + 1]) <= (options.leaseMs ?? this.options.withinMs);
      // Of several entries the newest, which comes first.
      if (isAlive && !found.has(id)) found.set(id, { id, host, pid, options });
    }
    return [...found.values()];
  }

  private async readAll() {
    const { withinMs } = this.options;
    const script = workersScript(this.keys);
    /** By session: of which names how many. */
    const running = new Map<string, [name: string, count: number][]>();
    let alive: string[] = [];
    for (let passOver = 0, isWhole = false; !isWhole; ) {
      const args = { withinMs, passOver, limit: JOBS_A_CALL };
      const [looked, whole, present, counted] = await ask(this.connection, script, args, this.giveUpAt());
      isWhole = whole === '1';
      if (passOver === 0) alive = present;
      passOver += Number(looked);
      const holders = counted.map(String);
      for (let i = 0; i < holders.length; i += 3) {
        const counts = running.get(holders[i]!) ?? [];
        counts.push([holders[i + 1]!, Number(holders[i + 2])]);
        running.set(holders[i]!, counts);
      }
    }
    return { alive: readAlive(alive), running };
  }

  private namesOf(crew: string): Promise<string[]> {
    return this.connection.read('list', (client) => client.smembers(handlesKey(this.keys, crew)), this.giveUpAt());
  }

  private async optionsOf(digest: string): Promise<SharedOptions> {
    const key = optionsKey(this.keys, digest);
    return decodeOptions(await this.connection.read('text', (client) => client.get(key), this.giveUpAt()));
  }

  private giveUpAt(): number {
    return this.connection.now() + this.options.commandTimeoutMs;
  }
}

function readAlive(pairs: string[]) {
  return Array.from({ length: pairs.length / 2 }, (_, i) => {
    return { ...decodeMember(pairs[2 * i]!), lastSeenAtMs: Number(pairs[2 * i + 1]) };
  });
}

/** See the row of `workers` in keys.ts. */
function decodeMember(member: string) {
  const [crew = '', session = '', pid, traits = '', ...host] = member.split(' ');
  return { crew, session, worker: processOf(session), pid: Number(pid), traits, host: host.join(' ') };
}
