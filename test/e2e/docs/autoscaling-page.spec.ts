import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { type INestApplication, Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { parseAllDocuments } from 'yaml';
import {
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { newPrefix, redisUrl } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { LoadController } from './autoscaling/load.controller.js';

const PAGE = readFileSync('docs/autoscaling.md', 'utf8');
/** What KEDA 2.21 knows, beside what these manifests have no use for. A field that it does not know is no error there, and does nothing. */
const FIELDS = {
  spec: [
    'scaleTargetRef',
    'pollingInterval',
    'cooldownPeriod',
    'minReplicaCount',
    'maxReplicaCount',
    'fallback',
    'triggers',
  ],
  trigger: ['type', 'metricType', 'metadata'],
  'metrics-api': ['url', 'valueLocation', 'targetValue'],
  prometheus: ['serverAddress', 'query', 'threshold', 'ignoreNullValues'],
};

interface Trigger {
  type: 'metrics-api' | 'prometheus';
  metricType?: string;
  metadata: Record<string, string>;
}

interface ScaledObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: { scaleTargetRef: { name: string }; triggers: Trigger[] } & Record<string, unknown>;
}

const opened: INestApplication[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()));
});

it('the manifests of docs/autoscaling.md have the fields that KEDA knows, and every value of a trigger is a string', () => {
  expect(manifests().map(({ spec }) => spec.triggers.map(({ type }) => type))).toEqual([
    ['metrics-api', 'metrics-api', 'metrics-api'],
    ['prometheus', 'prometheus', 'prometheus'],
  ]);
  for (const { apiVersion, kind, spec } of manifests()) {
    expect({ apiVersion, kind }).toEqual({ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject' });
    expect(FIELDS.spec).toEqual(expect.arrayContaining(Object.keys(spec)));
    for (const trigger of spec.triggers) {
      expect(FIELDS.trigger).toEqual(expect.arrayContaining(Object.keys(trigger)));
      expect(FIELDS[trigger.type].toSorted()).toEqual(Object.keys(trigger.metadata).sort());
      expect(Object.values(trigger.metadata).filter((value) => typeof value !== 'string')).toEqual([]);
    }
    // Late is a ratio; what is busy or coming is shared among the pods, which is the default of KEDA.
    expect(spec.triggers.map(({ metricType }) => metricType)).toEqual(['Value', undefined, undefined]);
  }
});

it('where the manifest for the controller looks, KEDA finds the number: late, busy and coming; nothing but busy in a pause', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  @Injectable()
  class Handlers {
    @OnScheduledJob('order', { queue: 'orders' })
    order(): Promise<void> {
      return held;
    }
  }
  const options = { connection: redisUrl(), prefix: newPrefix(), queues: { orders: { concurrency: 2 } } };
  const module = await Test.createTestingModule({
    imports: [RedisScheduledQueueModule.forRoot(options)],
    controllers: [LoadController],
    providers: [Handlers],
  }).compile();
  const app = module.createNestApplication({ logger: false });
  opened.push(app);
  await app.listen(0, '127.0.0.1');
  const base = await app.getUrl();
  const [{ spec }] = manifests() as [ScaledObject];
  /** As KEDA does: the number at `valueLocation` of what the path of `url` answers. */
  const signals = () =>
    Promise.all(
      spec.triggers.map(async ({ metadata: { url, valueLocation } }) => {
        const response = await fetch(base + new URL(url!).pathname);
        expect(response.status).toBe(200);
        const found = valueLocation!
          .split('.')
          .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], await response.json());
        expect(typeof found).toBe('number');
        return found as number;
      }),
    );
  expect(await signals()).toEqual([0, 0, 0]);

  const producer = app.get(ScheduledQueueProducer);
  const inspector = app.get(ScheduledQueueInspector);
  for (const delay of [0, 0, 0, '1m', '1h'] as const)
    await producer.schedule('order', null, { queue: 'orders', delay });
  await until('two run', async () => (await inspector.counts({ queue: 'orders' })).active === 2);
  const [lateMs, ...others] = await until('one is late', async () => {
    const read = await signals();
    return read[0]! > 0 && read;
  });
  expect(lateMs).toBeLessThan(30_000);
  // The third one is due, the fourth one within two minutes.
  expect(others).toEqual([2, 2]);

  await inspector.pause({ queue: 'orders' });
  expect(await signals()).toEqual([0, 2, 0]);
  release();
  await until('they have ended', async () => (await signals())[1] === 0);
});

it('the numbers of docs/autoscaling.md follow from each other', () => {
  const [controller] = manifests() as [ScaledObject];
  const targets = controller.spec.triggers.map(({ metadata }) => Number(metadata.targetValue));
  const [, places, seconds, runSeconds, jobs] = PAGE.match(
    /With (\d+) places and jobs of \d+ s that is \d+ × (\d+) \/ (\d+) = (\d+)/,
  )!.map(Number);
  expect((places! * seconds!) / runSeconds!).toBe(jobs);
  expect(targets).toEqual([30_000, (8 / 10) * places!, jobs]);
});

function manifests(): ScaledObject[] {
  const texts = [...PAGE.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) => text!);
  return texts.map((text) => {
    const [document, ...others] = parseAllDocuments(text);
    expect(others).toEqual([]);
    expect(document!.errors).toEqual([]);
    return document!.toJS() as ScaledObject;
  });
}
