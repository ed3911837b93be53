import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBullBoard } from '@bull-board/api';
import type { BoardOptions } from '@bull-board/api/typings/app';
import { ExpressAdapter } from '@bull-board/express';
import { ScheduledQueueAdapter, type ScheduledQueueAdapterOptions } from '../../lib/bull-board/index.js';
import type { QueueApp } from './queue-app.js';

// biome-ignore lint/suspicious/noExplicitAny: what bull-board answers, which it checks itself
type Body = any;

export interface Answer {
  status: number;
  body: Body;
}

/** bull-board over HTTP, with its check of each answer, for the queues of an application. */
export class TestBoard {
  private constructor(
    private readonly server: Server,
    readonly addQueue: (options: ScheduledQueueAdapterOptions) => ScheduledQueueAdapter,
  ) {}

  static async start({ inspector }: Pick<QueueApp, 'inspector'>, options: BoardOptions = {}): Promise<TestBoard> {
    const serverAdapter = new ExpressAdapter();
    const { addQueue } = createBullBoard({
      queues: [],
      serverAdapter,
      options: { ...options, validateResponses: true },
    });
    const server = createServer(serverAdapter.getRouter());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new TestBoard(server, (of) => {
      const adapter = new ScheduledQueueAdapter(inspector, of);
      addQueue(adapter);
      return adapter;
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.url}/api${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  get = (path: string) => this.ask('GET', path);
  put = (path: string, body?: unknown) => this.ask('PUT', path, body);

  /** What the list shows of a queue: of one status, or the latest jobs of all. */
  async queue(name: string, query = ''): Promise<Body> {
    const { status, body } = await this.get(`/queues?activeQueue=${name}&${query}`);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body.queues.find((queue: { name: string }) => queue.name === name);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
