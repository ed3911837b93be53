import { expect, it } from '@jest/globals';
import {
  AggregatorRegistry,
  type Metric,
  Registry,
  type RegistryContentType,
  Counter as TheirCounter,
  Histogram as TheirHistogram,
} from 'prom-client';
import { Counter, Histogram } from '../../../lib/prometheus/tallies.js';

const BOUNDS = [0.1, 1, 10];
const VALUES = [0.05, 0.1, 0.5, 1, 3, 99];

function registryOf(contentType: RegistryContentType): Registry<RegistryContentType> {
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(contentType);
  return registry;
}

/** The same counted by this library and by prom-client, each in a registry of its own. */
function both(contentType: RegistryContentType) {
  const ours = registryOf(contentType);
  const counter = new Counter('events_total', 'Events.');
  const histogram = new Histogram('run_seconds', 'Runs.', BOUNDS);
  for (const metric of [counter, histogram]) ours.registerMetric(metric as unknown as Metric);
  const theirs = registryOf(contentType);
  const registers = [theirs as Registry];
  const theirCounter = new TheirCounter({ name: 'events_total', help: 'Events.', labelNames: ['job'], registers });
  const options = { name: 'run_seconds', help: 'Runs.', labelNames: ['job'], buckets: BOUNDS, registers };
  const theirHistogram = new TheirHistogram(options);
  for (const job of ['a"b\\c\nd', 'plain']) {
    for (const value of VALUES) {
      counter.of({ job }).count++;
      theirCounter.inc({ job });
      histogram.of({ job }).add(value);
      theirHistogram.observe({ job }, value);
    }
  }
  return { ours, theirs };
}

/** The order of labels and of lines says nothing. */
const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels) => `{${labels.match(/\w+="(?:\\.|[^"])*"/g).sort()}}`))
    .sort();

it.each([
  Registry.PROMETHEUS_CONTENT_TYPE as RegistryContentType,
  Registry.OPENMETRICS_CONTENT_TYPE as RegistryContentType,
])('a registry prints the same of counts and distributions as of metrics of prom-client, as %s', async (type) => {
  const { ours, theirs } = both(type);
  expect(lines(await ours.metrics())).toEqual(lines(await theirs.metrics()));
  expect(await ours.metrics()).toContain('run_seconds_count{job="plain"} 6');
  // A second time too: the first may have renamed the counter.
  expect(lines(await ours.metrics())).toEqual(lines(await theirs.metrics()));
  for (const registry of [ours, theirs]) registry.setDefaultLabels({ app: 'shop' });
  expect(lines(await ours.metrics())).toEqual(lines(await theirs.metrics()));
});

it('the processes of a Node cluster are added up', async () => {
  const [{ ours }, { ours: other }] = [both(Registry.PROMETHEUS_CONTENT_TYPE), both(Registry.PROMETHEUS_CONTENT_TYPE)];
  const sent = await Promise.all([ours, other].map((registry) => registry.getMetricsAsJSON()));
  const all = await AggregatorRegistry.aggregate(JSON.parse(JSON.stringify(sent))).metrics();
  expect(all).toContain('events_total{job="plain"} 12');
  expect(all).toMatch(/run_seconds_bucket\{.*le="1".*\} 8\n/);
  expect(all).toContain('run_seconds_sum{job="plain"} 207.3');
});

it('after reset the series are there, and begin with 0', async () => {
  const { ours } = both(Registry.PROMETHEUS_CONTENT_TYPE);
  ours.resetMetrics();
  const text = await ours.metrics();
  expect(text).toContain('events_total{job="plain"} 0');
  expect(text.match(/ [1-9]\d*$/gm)).toBeNull();
});

it('what is below 0, or no number, counts as 0', async () => {
  const histogram = new Histogram('run_seconds', 'Runs.', BOUNDS);
  for (const value of [-5, Number.NaN, 0]) histogram.of({}).add(value);
  const { values } = await histogram.get();
  expect(values.map(({ value }) => value)).toEqual([3, 3, 3, 3, 0, 3]);
});
