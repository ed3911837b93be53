import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Header, type INestApplication, Injectable, type Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import {
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { ScheduledQueueMetricsModule } from '../../../lib/prometheus/index.js';
import { hasPrometheus, type PrometheusServer, startPrometheus } from '../../support/prometheus-server.js';
import { newPrefix, redisUrl } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

// Every query of docs/grafana and docs/autoscaling.md, evaluated by a real Prometheus that scrapes a worker and a producer.

const RULES = 'docs/grafana/alerts.yaml';
const dashboard: {
  panels: { title: string; gridPos: { x: number; y: number; w: number; h: number }; targets: { expr: string }[] }[];
  templating: { list: { name: string; type: string; query: string | { query: string } }[] };
} = JSON.parse(readFileSync('docs/grafana/dashboard.json', 'utf8'));
const alerts: { alert: string; expr: string }[] = parse(readFileSync(RULES, 'utf8')).groups[0].rules;
const keda = [...readFileSync('docs/autoscaling.md', 'utf8').matchAll(/^```yaml\n(.*?)^```$/gms)]
  .flatMap(([, text]) => parse(text!).spec.triggers as { metadata: { query?: string } }[])
  .flatMap(({ metadata: { query } }) => query ?? []);
const panels = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }, i) => [`${title}, ${i}`, asGrafanaSends(expr)] as const),
);

if (!hasPrometheus())
  process.stderr.write(
    'No prometheus on PATH, so the queries of the dashboard and of the alerts are not evaluated: CONTRIBUTING.md says how to get it.\n',
  );

(hasPrometheus() ? describe : describe.skip)('evaluated by Prometheus', () => {
  const apps: INestApplication[] = [];
  let prometheus: PrometheusServer;
  let producer: ScheduledQueueProducer;
  let inspector: ScheduledQueueInspector;
  let release = () => {};

  beforeAll(async () => {
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    @Injectable()
    class Handlers {
      @OnScheduledJob('quick', { queue: 'orders', concurrency: 1 })
      quick(): void {}
      @OnScheduledJob('slow', { queue: 'orders', concurrency: 1 })
      slow(): Promise<void> {
        return held;
      }
      @OnScheduledJob('broken', { queue: 'orders', maxAttempts: 1 })
      broken(): void {
        throw new Error('as ordered');
      }
    }
    const prefix = newPrefix();
    const worker = await scraped(prefix, 'worker', [Handlers]);
    const api = await scraped(prefix, 'producer', []);
    producer = api.app.get(ScheduledQueueProducer);
    inspector = api.app.get(ScheduledQueueInspector);
    apps.push(worker.app, api.app);
    const dispatch = (job: string) => producer.dispatch(job, null, { queue: 'orders' });
    // Of the two slow ones, one waits. Before the first scrape, so that what is read at scrapes has them.
    for (const job of ['quick', 'slow', 'slow', 'broken', 'unhandled']) await dispatch(job);
    await until('one is dead, one runs', async () => {
      const { active, dead } = await inspector.counts({ queue: 'orders' });
      return active === 1 && dead === 1;
    });
    prometheus = await startPrometheus({ workers: worker.target, api: api.target }, RULES);
    // What is measured between two scrapes.
    await until('there are rates of claims and runs', async () => {
      await dispatch('quick');
      await dispatch('broken');
      const rates = await Promise.all(
        [
          'scheduled_queue_claim_size_count',
          'scheduled_queue_run_seconds_count',
          'scheduled_queue_lateness_seconds_count',
        ].map((name) => prometheus.query(`sum by (queue) (rate(${name}[20s])) > 0`)),
      );
      return rates.every(({ length }) => length > 0);
    });
  });

  afterAll(async () => {
    release();
    await prometheus?.stop();
    await Promise.all(apps.map((app) => app.close()));
  });

  it.each(panels)('the dashboard shows numbers: %s', async (_title, query) => {
    const samples = await prometheus.query(query);
    expect(samples).not.toEqual([]);
    expect(samples.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
    // Grouped by labels that are there: where they were not, all would fall into one group without a label.
    const [, grouped = ''] = query.match(/^(?:histogram_quantile\([\d.]+, )?(?:sum|max) by \(([^)]*)\)/) ?? [];
    const labels = grouped.split(', ').filter((label) => label && label !== 'le');
    for (const label of labels) expect(samples.filter(({ metric }) => metric[label])).not.toEqual([]);
  });

  it('the variable of the dashboard offers the queues', async () => {
    const { query } = dashboard.templating.list.find(({ name }) => name === 'queue')!;
    expect(query).toMatchObject({ query: 'label_values(scheduled_queue_jobs, queue)' });
    const values = await prometheus.get('/api/v1/label/queue/values?match[]=scheduled_queue_jobs');
    expect(values).toEqual(['orders']);
  });

  it('the names of jobs stand where the dashboard looks first', async () => {
    const { query } = dashboard.templating.list.find(({ name }) => name === 'name_label')!;
    const [first] = (query as string).split(',');
    const samples = await prometheus.query('scheduled_queue_events_total{type="started"} > 0');
    expect(new Set(samples.map(({ metric }) => metric[first!]))).toEqual(new Set(['quick', 'slow', 'broken']));
    expect(new Set(samples.map(({ metric }) => metric.job))).toEqual(new Set(['workers']));
  });

  it('the alerts are evaluated without an error, and those that have a reason are on their way', async () => {
    const rules = () =>
      prometheus.get('/api/v1/rules') as Promise<{
        groups: { rules: { name: string; health: string; state: string; lastError?: string }[] }[];
      }>;
    const evaluated = await until('all are evaluated', async () => {
      const all = (await rules()).groups.flatMap((group) => group.rules);
      return all.every(({ health }) => health !== 'unknown') && all;
    });
    expect(evaluated.map(({ name, health, lastError }) => ({ name, health, lastError }))).toEqual(
      alerts.map(({ alert }) => ({ name: alert, health: 'ok', lastError: undefined })),
    );
    // Dead letters have come within the last minutes; nothing else is wrong.
    await until('dead letters grow', async () => {
      const all = (await rules()).groups.flatMap((group) => group.rules);
      return all.find(({ name }) => name === 'ScheduledQueueDeadLetters')!.state === 'firing';
    });
    const others = (await rules()).groups.flatMap((group) => group.rules).filter(({ state }) => state !== 'inactive');
    // More than half of the attempts may fail here: half of the jobs are broken.
    expect(others.map(({ name }) => name).filter((name) => name !== 'ScheduledQueueFailing')).toEqual([
      'ScheduledQueueDeadLetters',
    ]);
  });

  it.each(selectorsOf([...panels.map(([, query]) => query), ...alerts.map(({ expr }) => expr), ...keda]))(
    'a scrape has what is asked for by %s',
    async (selector) => {
      expect(await prometheus.query(selector)).not.toEqual([]);
    },
  );

  it('the queries of the KEDA manifest answer one number each: late, busy, due; late is 0 in a pause', async () => {
    const signals = async () => {
      // As of one instant whose scrape has ended: a scrape between two queries would let them tell of two moments.
      const atMs = Date.now() - 1_000;
      const answers = await Promise.all(keda.map((query) => prometheus.query(query, atMs)));
      expect(answers.map(({ length }) => length)).toEqual([1, 1, 1]);
      return answers.map(([sample]) => sample!.value);
    };
    // A scrape may have seen a job of the cases above: what one scrape tells is read until it tells of these two alone.
    const [late] = await until('one is late, one runs, one is due', async () => {
      const read = await signals();
      const [lateness, busy, due] = read;
      return lateness! > 0 && busy === 1 && due === 1 && read;
    });
    expect(late).toBeLessThan(60);
    await inspector.pause({ queue: 'orders' });
    release();
    expect(
      await until('none runs any more', async () => {
        const read = await signals();
        return read[1] === 0 && read;
      }),
    ).toEqual([0, 0, 1]);
  });
});

it('the panels of the dashboard lie side by side, and none on another', () => {
  const taken = new Set<string>();
  for (const { gridPos, title } of dashboard.panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect({ title, taken: taken.has(`${x} ${y}`) }).toEqual({ title, taken: false });
        taken.add(`${x} ${y}`);
      }
    }
  }
});

it('every variable of the dashboard that a query uses is there', () => {
  const used = [...JSON.stringify(dashboard.panels).matchAll(/\$\{?(\w+)/g)].map(([, name]) => name!);
  const there = [...dashboard.templating.list.map(({ name }) => name), '__rate_interval'];
  expect([...new Set(used)].sort()).toEqual(there.sort());
});

/** With the variables as they stand when the dashboard is opened, and a window that a short test fills. */
function asGrafanaSends(query: string): string {
  return query
    .replaceAll('$queue', '.*')
    .replaceAll('$name_label', 'exported_job')
    .replaceAll('$__rate_interval', '20s');
}

/** Each metric with its conditions, as the queries write it. */
function selectorsOf(queries: string[]): string[] {
  return [...new Set(queries.flatMap((query) => query.match(/scheduled_queue_\w+(?:\{[^}]*\})?/g) ?? []))];
}

/** An application that serves what is measured in it. */
async function scraped(prefix: string, role: 'worker' | 'producer', providers: Provider[]) {
  const registry = new Registry();
  @Controller('metrics')
  class MetricsController {
    @Get()
    @Header('content-type', registry.contentType)
    metrics(): Promise<string> {
      return registry.metrics();
    }
  }
  const queues = { orders: { concurrency: 10 } };
  const module = await Test.createTestingModule({
    imports: [
      RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix, role, queues, shutdownTimeoutMs: 2_000 }),
      ScheduledQueueMetricsModule.forRoot({ registry }),
    ],
    controllers: [MetricsController],
    providers,
  }).compile();
  const app = module.createNestApplication({ logger: false });
  await app.listen(0, '127.0.0.1');
  return { app, target: new URL(await app.getUrl()).host };
}
