import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { succeeds } from './install-redis.js';
import { freePort } from './redis-server.js';
import { until } from './wait.js';

export interface Sample {
  metric: Record<string, string>;
  value: number;
}

/** A real Prometheus that scrapes once a second. */
export interface PrometheusServer {
  /** The answer of one query now, or as of an instant in epoch ms. Throws what Prometheus says where it cannot evaluate it. */
  query(text: string, atMs?: number): Promise<Sample[]>;
  /** The `data` that its HTTP API answers. */
  get(path: string): Promise<unknown>;
  stop(): Promise<void>;
}

export function hasPrometheus(): boolean {
  return succeeds('prometheus', '--version');
}

/** `targets`: host and port of what is scraped, by the name of the scrape. `rules`: the path of a rule file. */
export async function startPrometheus(
  targets: Readonly<Record<string, string>>,
  rules: string,
): Promise<PrometheusServer> {
  const directory = mkdtempSync(join(tmpdir(), 'scheduled-queue-prometheus-'));
  const port = await freePort();
  const config = join(directory, 'prometheus.yml');
  writeFileSync(
    config,
    stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [resolve(rules)],
      scrape_configs: Object.entries(targets).map(([name, target]) => ({
        job_name: name,
        static_configs: [{ targets: [target] }],
      })),
    }),
  );
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((done) => child.once('exit', done));
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const base = `http://127.0.0.1:${port}`;
  const get = async (path: string) => {
    const { status, data, error } = (await (await fetch(base + path)).json()) as {
      status: string;
      data: unknown;
      error?: string;
    };
    if (status !== 'success') throw new Error(`Prometheus answers ${path}: ${error}`);
    return data;
  };
  await until('Prometheus is ready', async () => {
    if (child.exitCode !== null) throw new Error(`prometheus ended with code ${child.exitCode} before it was ready.`);
    return fetch(`${base}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    get,
    async query(text, atMs) {
      const time = atMs === undefined ? '' : `&time=${atMs / 1_000}`;
      const { result } = (await get(`/api/v1/query?query=${encodeURIComponent(text)}${time}`)) as {
        result: { metric: Record<string, string>; value: [number, string] }[];
      };
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
    },
    async stop() {
      process.off('exit', end);
      end();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
