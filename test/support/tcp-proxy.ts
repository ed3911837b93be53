import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** Looks at what the client last sent and what the server answers; true cuts the connection instead of passing the answer on. */
export type CutWhen = (request: string, reply: string) => boolean;

/** A proxy between a client and Redis that can lose a reply on purpose: the command has run, and nobody hears of it. */
export class TcpProxy {
  private readonly pairs = new Set<{ client: Socket; server: Socket }>();
  private cutWhen?: CutWhen;
  private onCut?: () => void;
  private refusing = false;
  private readonly swallowing = new WeakSet<Socket>();

  private constructor(
    private readonly listener: Server,
    private readonly target: { host: string; port: number },
  ) {
    listener.on('connection', (client) => this.connect(client));
  }

  static async start(redisUrl: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(redisUrl);
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    return new TcpProxy(listener, { host: hostname, port: Number(port || 6379) });
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

  /** Cuts every connection and refuses new ones until `accept`. */
  refuse(): void {
    this.refusing = true;
    for (const { client, server } of this.pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Cuts every connection; new ones pass. */
  cut(): void {
    this.refuse();
    this.accept();
  }

  accept(): void {
    this.refusing = false;
  }

  /** From now on, nothing passes on the connections that stand, and neither side hears that they are dead. */
  blackhole(): void {
    for (const { client } of this.pairs) this.swallowing.add(client);
  }

  async stop(): Promise<void> {
    this.refuse();
    await new Promise((resolve) => this.listener.close(resolve));
  }

  private connect(client: Socket): void {
    if (this.refusing) {
      client.destroy();
      return;
    }
    const server = createConnection(this.target);
    const pair = { client, server };
    this.pairs.add(pair);
    let request = '';
    client.on('data', (data) => {
      if (this.swallowing.has(client)) return;
      request = data.toString('latin1');
      server.write(data);
    });
    server.on('data', (data) => {
      if (this.swallowing.has(client)) return;
      if (!this.cutWhen?.(request, data.toString('latin1'))) {
        client.write(data);
        return;
      }
      this.cutWhen = undefined;
      client.destroy();
      server.destroy();
      this.onCut?.();
    });
    const end = () => {
      this.pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('close', end).on('error', end);
  }
}
