import { QueueClosedError } from '../../core/errors.js';
import { type Reason, refused } from '../../store/redis/link/call-error.js';
import type { Client } from '../../store/redis/link/client.js';
import type { RedisLink } from '../../store/redis/link/redis-link.js';
import type { CallTraits } from '../../store/redis/link/send-script.js';
import type { ScriptArgument } from '../../store/redis/scripts/bound-script.js';
import type { ScriptName } from '../../store/redis/scripts/embedded.js';
import type { PlainReply } from '../../store/redis/scripts/reply-shape.js';
import { KnownBytes, toBytes, toText } from './bytes.js';
import type { Outage } from './outage.js';
import { type Reply, ReplyError, Status } from './reply.js';
import type { SmallRedis, Watch } from './small-redis.js';

/** A text that is no UTF-8 comes as bytes only to who reads payloads that are none. */
const asText = (reply: Reply): unknown => converted(reply, toText);
const asBytes = (reply: Reply): unknown => converted(reply, (bytes) => Buffer.from(bytes, 'latin1'));

function converted(reply: Reply, convert: (bytes: string) => unknown): unknown {
  if (typeof reply === 'string') return convert(reply);
  if (Array.isArray(reply)) return reply.map((each) => converted(each, convert));
  return reply instanceof Status ? reply.text : reply;
}

/** Nothing is too large for it, and nothing takes long. */
const DOWNLINK: RedisLink['downlink'] = { note: () => {}, bytesIn: (_, most) => most };

/** Calls a Redis in this process in the place of a connection. A call is one step; its answer comes later, as from a server. */
export class ProcessLink implements RedisLink {
  readonly uplink;
  readonly downlink = DOWNLINK;
  readonly received = 0;
  /** How many scripts and commands have run that may have changed something. */
  steps = 0;
  private readonly commands: Client;
  private isClosed = false;
  /** The keys of a queue are the same in each call. */
  private readonly known = new KnownBytes();
  private readonly keyBytes = (key: string) => this.known.of(key);

  constructor(
    private readonly redis: SmallRedis,
    /** Its time, monotonic. */
    readonly now: () => number,
    private readonly outage: Outage,
    /** Whether this process reads payloads that are no text. */
    private readonly readsBytes: boolean,
    /** Told after each script that a call has run. */
    private readonly hasRun: (script: ScriptName) => void = () => {},
    /** Who is told of each command of a script. */
    private readonly watchOf: (script: ScriptName) => Watch | undefined = () => undefined,
  ) {
    this.commands = commandsOf(redis);
    this.uplink = { most: Number.POSITIVE_INFINITY, comesTooLate: () => outage.isOn };
  }

  get trouble(): Reason | undefined {
    return this.outage.trouble;
  }

  async ready(): Promise<void> {
    this.requireThere();
  }

  async run(
    script: ScriptName,
    keys: readonly string[],
    args: readonly ScriptArgument[],
    _giveUpAt: number,
    { fromBytes }: CallTraits = {},
  ): Promise<unknown> {
    this.requireThere();
    try {
      return this.runNow(script, keys, args, fromBytes);
    } finally {
      this.hasRun(script);
    }
  }

  /** Runs a script at once, also while Redis is away for everybody else. */
  runNow(
    script: ScriptName,
    keys: readonly string[],
    args: readonly ScriptArgument[],
    fromBytes?: CallTraits['fromBytes'],
  ): unknown {
    this.steps++;
    try {
      const reply = this.redis.run(script, keys.map(this.keyBytes), args.map(toBytes), this.watchOf(script));
      return this.readsBytes && fromBytes ? fromBytes(asBytes(reply)) : asText(reply);
    } catch (error) {
      throw error instanceof ReplyError ? refused(error.message, false) : error;
    }
  }

  /** The same for a command. */
  commandNow(name: string, args: readonly (string | number)[]): unknown {
    this.steps++;
    return asText(this.redis.command(name, args.map(toBytes)));
  }

  *keysWith(begin: string): Generator<string> {
    for (const key of this.redis.keysWith(toBytes(begin))) yield toText(key);
  }

  async read<T>(_kind: PlainReply, command: (client: Client) => Promise<T>): Promise<T> {
    this.requireThere();
    return command(this.commands);
  }

  close(): void {
    this.isClosed = true;
  }

  private requireThere(): void {
    if (this.isClosed)
      throw new QueueClosedError(
        'The queue is closed: its connection to Redis has ended, as the application has closed. End what calls it before that.',
      );
    this.outage.requireThere();
  }
}

/** The plain commands, as methods of a client of ioredis. */
function commandsOf(redis: SmallRedis): Client {
  const send = (name: string, args: readonly (string | number)[]) => asText(redis.command(name, args.map(toBytes)));
  const get = (_: object, name: string) => {
    if (name === 'hgetall') return async (key: string) => fieldsOf(send('hgetall', [key]) as string[]);
    return async (...args: (string | number)[]) => send(name, args);
  };
  return new Proxy({}, { get }) as Client;
}

function fieldsOf(flat: readonly string[]): Record<string, string> {
  return Object.fromEntries(flat.flatMap((field, i) => (i % 2 === 0 ? [[field, flat[i + 1]!]] : [])));
}
