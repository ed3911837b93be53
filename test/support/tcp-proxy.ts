import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { Link } from './link.js';

/** Looks at what the client last sent and what the server answers; true cuts the connection instead of passing the answer on. */
export type CutWhen = (request: string, reply: string) => boolean;

interface Pair {
  client: Socket;
  server: Socket;
  /** What the client last sent. */
  request: string;
}

/** A way that is slow: data goes in pieces, each so much later than the one before. */
export interface Slowness {
  pieceBytes: number;
  delayMs: number;
}

/** A proxy between a client and Redis that can lose a reply on purpose: the command has run, and nobody hears of it. */
export class TcpProxy {
  private readonly pairs = new Set<Pair>();
  private cutWhen?: CutWhen;
  private onCut?: () => void;
  private cutBefore?: (request: string) => boolean;
  private refusing = false;
  private slowness?: Slowness;
  private up?: Link;
  private down?: Link;
  private rewriteReply?: (reply: string) => string;
  private swallowsNew = false;
  private swallowWhen?: (request: string) => boolean;
  private readonly swallowing = new WeakSet<Socket>();
  /** How many connections were asked for since the proxy started. */
  connections = 0;
  /** How many bytes clients have sent to Redis since then. */
  bytesUp = 0;

  private constructor(
    private readonly listener: Server,
    private target: { host: string; port: number },
  ) {
    listener.on('connection', (client) => this.connect(client));
  }

  static async start(redisUrl: string): Promise<TcpProxy> {
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    return new TcpProxy(listener, addressIn(redisUrl));
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.listener.address() as { port: number }).port}`;
  }

  /** Loses the first answer for which `when` holds, together with its connection. Resolves once that has happened. */
  cutOnce(when: CutWhen): Promise<void> {
    this.cutWhen = when;
    return new Promise((resolve) => {
      this.onCut = resolve;
    });
  }

  /** Cuts every connection that stands, whatever is on its way. New ones are taken. */
  cutAll(): void {
    for (const pair of this.pairs) cut(pair);
  }

  /** Cuts every connection and refuses new ones until `accept`. */
  refuse(): void {
    this.refusing = true;
    this.cutAll();
  }

  /** Cuts every connection; new ones pass. */
  cut(): void {
    this.refuse();
    this.accept();
  }

  /** New connections lead to another Redis, as after a failover; those that stand stay. */
  lead(redisUrl: string): void {
    this.target = addressIn(redisUrl);
  }

  /** The same, and every connection is cut. */
  redirect(redisUrl: string): void {
    this.lead(redisUrl);
    this.cutAll();
  }

  /** The same at the next such request, which does not pass: its connection is cut, and others stand. Resolves once that has happened. */
  redirectAt(when: (request: string) => boolean, redisUrl: string): Promise<void> {
    return new Promise((resolve) => {
      this.cutBefore = (request) => {
        if (!when(request)) return false;
        this.cutBefore = undefined;
        this.lead(redisUrl);
        resolve();
        return true;
      };
    });
  }

  accept(): void {
    this.refusing = false;
  }

  /** From now on, nothing passes on the connections that stand (and last sent such a request), and neither side hears that they are dead. */
  blackhole(whose: (request: string) => boolean = () => true): void {
    for (const { client, request } of this.pairs) if (whose(request)) this.swallowing.add(client);
  }

  /** Whether nothing passes on connections made from now on. */
  swallowNew(on: boolean): void {
    this.swallowsNew = on;
  }

  /** From now on, nothing passes any more on a connection that sends such a request; that one does not pass either. Nothing given: none. */
  swallowWhere(when?: (request: string) => boolean): void {
    this.swallowWhen = when;
  }

  /** Applies to connections made from now on. */
  slow(slowness: Slowness): void {
    this.slowness = slowness;
  }

  /** From now on all connections together get so many bytes a second through, in each direction. */
  throttle(bytesPerSecond: number): void {
    this.up = new Link(bytesPerSecond);
    this.down = new Link(bytesPerSecond);
  }

  /** Changes what the server answers. The length must stay: replies say how long they are. */
  rewrite(change: (reply: string) => string): void {
    this.rewriteReply = change;
  }

  async stop(): Promise<void> {
    this.refuse();
    await new Promise((resolve) => this.listener.close(resolve));
  }

  private connect(client: Socket): void {
    this.connections++;
    if (this.refusing) {
      client.destroy();
      return;
    }
    const pair: Pair = { client, server: createConnection(this.target), request: '' };
    const { server } = pair;
    this.pairs.add(pair);
    if (this.swallowsNew) this.swallowing.add(client);
    const toServer = this.way(server);
    const toClient = this.way(client);
    client.on('data', (data) => {
      if (this.swallowing.has(client)) return;
      this.bytesUp += data.length;
      pair.request = data.toString('latin1');
      if (this.cutBefore?.(pair.request)) {
        cut(pair);
        return;
      }
      if (this.swallowWhen?.(pair.request)) {
        this.swallowing.add(client);
        return;
      }
      if (this.up) void this.up.carry(client, server, data);
      else toServer(data);
    });
    server.on('data', (data) => {
      if (this.swallowing.has(client)) return;
      const reply = data.toString('latin1');
      if (this.cutWhen?.(pair.request, reply)) {
        this.cutWhen = undefined;
        cut(pair);
        this.onCut?.();
        return;
      }
      if (this.down) {
        void this.down.carry(server, client, data);
        return;
      }
      toClient(this.rewriteReply ? Buffer.from(this.rewriteReply(reply), 'latin1') : data);
    });
    const end = () => {
      this.pairs.delete(pair);
      cut(pair);
    };
    for (const socket of [client, server]) socket.on('close', end).on('error', end);
  }

  private way(to: Socket): (data: Buffer) => void {
    const { slowness } = this;
    if (!slowness) return (data) => void to.write(data);
    let freeAt = 0;
    return (data) => {
      for (let at = 0; at < data.length; at += slowness.pieceBytes) {
        freeAt = Math.max(freeAt, performance.now()) + slowness.delayMs;
        const piece = data.subarray(at, at + slowness.pieceBytes);
        setTimeout(() => !to.destroyed && to.write(piece), freeAt - performance.now());
      }
    };
  }
}

function cut({ client, server }: Pair): void {
  client.destroy();
  server.destroy();
}

function addressIn(redisUrl: string): { host: string; port: number } {
  const { hostname, port } = new URL(redisUrl);
  return { host: hostname, port: Number(port || 6379) };
}
