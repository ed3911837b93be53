import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { succeeds } from '../../support/install-redis.js';

// The alert rules and the dashboard that are shipped in docs/grafana.

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}

const RULES = 'docs/grafana/alerts.yaml';
const RULE_TESTS = 'test/e2e/docs/grafana/alerts.test.yaml';
const README = readFileSync('docs/grafana/README.md', 'utf8');
const alerts: Alert[] = parse(readFileSync(RULES, 'utf8')).groups.flatMap(({ rules }: { rules: Alert[] }) => rules);

const hasPromtool = succeeds('promtool', '--version');
if (!hasPromtool)
  process.stderr.write('No promtool on PATH, so the alert rules are not tested: CONTRIBUTING.md says how to get it.\n');
const itWithPromtool = hasPromtool ? it : it.skip;

itWithPromtool('promtool accepts the alert rules', () => {
  expect(execFileSync('promtool', ['check', 'rules', '--lint-fatal', RULES], { encoding: 'utf8' })).toContain(
    `SUCCESS: ${alerts.length} rules found`,
  );
});

itWithPromtool('each alert fires when it should, and is silent when it should', () => {
  const text = execFileSync('promtool', ['test', 'rules', RULE_TESTS], { encoding: 'utf8' });
  expect(text).toContain('SUCCESS');
});

it('each alert has a test in which it fires', () => {
  const tests: { tests: { promql_expr_test: { exp_samples: { labels: string }[] }[] }[] } = parse(
    readFileSync(RULE_TESTS, 'utf8'),
  );
  const fired = tests.tests.flatMap((test) => test.promql_expr_test.flatMap(({ exp_samples }) => exp_samples));
  const names = fired.map(({ labels }) => labels.match(/alertname="(\w+)"/)![1]!);
  expect([...new Set(names)].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
});

it.each(alerts)('$alert says how bad it is, what to type, and leads to its own section', (alert) => {
  const { summary, description, runbook_url, ...others } = alert.annotations;
  expect(others).toEqual({});
  expect(['critical', 'warning']).toContain(alert.labels.severity);
  expect(summary!.length).toBeLessThan(100);
  expect(description).toMatch(/\b[Tt]ype `|[Ll]ook for "|restart it/);
  expect(runbook_url).toBe(`docs/grafana/README.md#${alert.alert.toLowerCase()}`);
  expect(README).toContain(`\n### ${alert.alert}\n`);
});

it.each(alerts)('the texts of $alert use no label that its query drops', ({ expr, annotations }) => {
  const texts = Object.values(annotations).join('\n');
  const used = [...texts.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!);
  // Without `by` a series keeps those of its target.
  const [, kept = ''] = expr.match(/\bby \(([^)]*)\)/) ?? [];
  const isWhole = /^(abs\()?scheduled_queue_/.test(expr);
  expect(
    used.filter((label) => !kept.split(', ').includes(label) && !(isWhole && ['instance', 'job'].includes(label))),
  ).toEqual([]);
});

it('docs/grafana/README.md has a section for each alert, in their order, and for no other', () => {
  const section = README.split('\n## The alerts\n')[1]!;
  const headings = [...section.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(headings).toEqual(alerts.map(({ alert }) => alert));
});
