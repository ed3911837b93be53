import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installRedis, succeeds } from './install-redis.js';

/** A real Redis for tests and for the sample app, on any machine. */
export interface RedisServer {
  url: string;
  /** How it was come by, for people. */
  origin: string;
  stop(): Promise<void>;
}

/** One that runs as a process of this machine. */
export interface OwnRedisServer extends RedisServer {
  port: number;
  /** The process that runs at present. */
  readonly process: ChildProcess;
  directory: string;
  /** As a crash would. Resolves once the process is gone. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on its old port and data. Resolves once it listens, which may be before it has loaded. */
  restart(): Promise<void>;
  /** Freezes the process, connections and all. */
  freeze(): void;
  thaw(): void;
}

type Say = (line: string) => void;

/**
 * Finds a Redis: `REDIS_URL`, else a `redis-server` or `valkey-server` on PATH, else a container where an engine answers,
 * else one that is installed, if whoever is asked agrees; else an error that says what to type.
 */
export async function startRedis(say: Say = () => {}): Promise<RedisServer> {
  const url = process.env.REDIS_URL;
  if (url) return { url, origin: 'REDIS_URL', stop: async () => {} };
  const found = serverOnPath();
  if (found) return startServer(found);
  const container = await tryContainer(say);
  if (container) return container;
  const looked = 'no REDIS_URL, no redis-server or valkey-server on PATH, no container engine';
  return startServer(await installServer(say, `A Redis is needed, and none was found: ${looked}.`));
}

/** A server that nobody else uses, with the options given, such as `--appendonly yes`. Needs one that is installed, or can be. */
export async function startOwnServer(...options: string[]): Promise<OwnRedisServer> {
  const needed = 'A Redis server of its own is needed, and there is no redis-server or valkey-server on PATH.';
  return startServer(serverOnPath() ?? (await installServer(warn, needed)), options);
}

const warn: Say = (line) => void process.stderr.write(`${line}\n`);

async function installServer(say: Say, needed: string): Promise<string> {
  await installRedis(say, needed);
  const installed = serverOnPath();
  if (!installed) throw new Error(`${needed} One was installed, but it is not on PATH.`);
  return installed;
}

async function startServer(binary: string, options: string[] = []): Promise<OwnRedisServer> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'scheduled-queue-redis-'));
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    directory,
    '--save',
    '',
    '--appendonly',
    'no',
    ...options,
  ];
  let child: ChildProcess;
  const launch = async () => {
    child = spawn(binary, args, { stdio: 'ignore' });
    await answers(port, child);
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  };
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  await launch();
  return {
    url: `redis://127.0.0.1:${port}`,
    origin: `${binary} on port ${port}`,
    port,
    get process() {
      return child;
    },
    directory,
    kill,
    restart: launch,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async stop() {
      process.off('exit', end);
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function serverOnPath(): string | undefined {
  return ['redis-server', 'valkey-server'].find((binary) => succeeds(binary, '--version'));
}

async function tryContainer(say: Say): Promise<RedisServer | undefined> {
  if (!process.env.DOCKER_HOST && !succeeds('docker', 'info')) return undefined;
  try {
    const { GenericContainer } = await import('testcontainers');
    say('Starting Redis in a container …');
    const container = await new GenericContainer('redis:7-alpine').withExposedPorts(6379).start();
    return {
      url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
      origin: 'a container of redis:7-alpine',
      stop: async () => void (await container.stop()),
    };
  } catch {
    return undefined;
  }
}

/** Below those that systems give to outgoing connections: one of these may take the port of a server that is down for a moment. */
const FIRST_PORT = 10_000;
const PORTS = 1_000;
/** Each worker of Jest has ports of its own: what one finds free, another would take. */
const RANGE = (Number(process.env.JEST_WORKER_ID ?? 0) % 10) * PORTS;
/** A node of a cluster talks with the others on a port so much higher. */
const CLUSTER_BUS = 10_000;

const givenPorts = new Set<number>();

/** A port that nobody listens on, nor on that of the cluster bus beside it. No port is given twice. */
export async function freePort(): Promise<number> {
  const port = FIRST_PORT + RANGE + Math.floor(Math.random() * PORTS);
  if (givenPorts.has(port)) return freePort();
  givenPorts.add(port);
  return (await canListen(port)) && (await canListen(port + CLUSTER_BUS)) ? port : freePort();
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Resolves when something listens on the port; throws when the server has ended, or after ten seconds. */
async function answers(port: number, child: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with code ${child.exitCode} before it answered.`);
    if (await connects(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`redis-server did not answer on port ${port} within 10 s.`);
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** What the server says to PING, an error included; nothing where it does not answer. */
export function ping(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write('PING\r\n'));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().trim());
    });
    socket.once('error', () => resolve('')).once('close', () => resolve(''));
  });
}
