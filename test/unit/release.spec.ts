import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

const { changesOf } = (await import('../../scripts/release.mjs' as string)) as {
  changesOf(tag: string, root: URL, repository?: string): string;
};

interface Workflow {
  on: { push: Record<string, string[]>; workflow_call?: { inputs: object } };
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}
interface Job {
  needs?: string;
  uses?: string;
  with?: { servers: string };
  permissions?: Record<string, string>;
  strategy?: { matrix: { node: number[] } };
  steps?: { run?: string; uses?: string }[];
}

describe('what the script says of a tag', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scheduled-queue-release-'));
  const root = pathToFileURL(`${folder}/`);
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text);

  beforeEach(() => {
    mkdirSync(join(folder, 'lib/core'), { recursive: true });
    const repository = { type: 'git', url: 'git+https://github.com/acme/queue.git' };
    write('package.json', JSON.stringify({ version: '1.2.0', repository }));
    write('package-lock.json', JSON.stringify({ version: '1.2.0' }));
    write('lib/core/version.ts', "export const VERSION = '1.2.0';\n");
    write(
      'CHANGELOG.md',
      '# Changelog\n\n## 1.2.0, 2027-01-31\n\n- New.\n\n### Data\n\n- Same.\n\n## 1.1.0, 2027-01-01\n\n- Old.\n',
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is the changelog's part of that version, without its title and without older ones", () => {
    expect(changesOf('v1.2.0', root, 'acme/queue')).toBe('- New.\n\n### Data\n\n- Same.');
  });

  it.each([
    ['the tag lacks its v', '1.2.0', () => {}, "the tag is '1.2.0', expected one that begins with v"],
    ['package.json has another version', 'v1.2.1', () => {}, "package.json has the version '1.2.0', expected '1.2.1'"],
    [
      'package-lock.json has another version',
      'v1.2.0',
      () => write('package-lock.json', '{ "version": "1.1.0" }'),
      "package-lock.json has the version '1.1.0', expected '1.2.0'",
    ],
    [
      'the code has another version',
      'v1.2.0',
      () => write('lib/core/version.ts', "export const VERSION = '1.1.0';"),
      "lib/core/version.ts has the version '1.1.0', expected '1.2.0'",
    ],
    [
      'the changelog has no date',
      'v1.2.0',
      () => write('CHANGELOG.md', '# Changelog\n\n## 1.2.0, unreleased\n\n- New.\n'),
      "CHANGELOG.md begins with '## 1.2.0, unreleased', expected '## 1.2.0, ' and a date such as 2027-01-31",
    ],
    [
      'the changelog does not know it',
      'v1.2.0',
      () => write('CHANGELOG.md', '# Changelog\n\n## 1.1.0, 2027-01-01\n\n- Old.\n'),
      "CHANGELOG.md begins with '## 1.1.0, 2027-01-01'",
    ],
    [
      'the changelog is silent about it',
      'v1.2.0',
      () => write('CHANGELOG.md', '# Changelog\n\n## 1.2.0, 2027-01-31\n\n## 1.1.0, 2027-01-01\n\n- Old.\n'),
      'CHANGELOG.md says nothing of 1.2.0',
    ],
  ])('is an error where %s', (_, tag, break_, message) => {
    break_();
    expect(() => changesOf(tag, root)).toThrow(message);
  });

  it('is an error where package.json names no repository, or another one than the workflow runs in', () => {
    expect(() => changesOf('v1.2.0', root, 'other/queue')).toThrow(
      'package.json has the repository "git+https://github.com/acme/queue.git", expected "git+https://github.com/other/queue.git"',
    );
    write('package.json', '{ "version": "1.2.0" }');
    expect(() => changesOf('v1.2.0', root, 'acme/queue')).toThrow('package.json has the repository undefined');
    write('package.json', '{ "version": "1.2.0", "repository": "github:acme/queue" }');
    expect(changesOf('v1.2.0', root, 'acme/queue')).toContain('New.');
  });

  it('tells all that does not fit at once, and of the version that is here what it lacks', () => {
    for (const path of ['package.json', 'package-lock.json', 'lib/core/version.ts', 'CHANGELOG.md'])
      cpSync(path, join(folder, path));
    const message = errorOf(() => changesOf('v99.0.0', root));
    expect(message.match(/expected '(## )?99\.0\.0/g)).toHaveLength(4);
    expect(message).toContain('See "Release" in CONTRIBUTING.md');
  });
});

describe('the workflow of a release', () => {
  const release = workflow('release');
  const ci = workflow('ci');

  it('is started by a tag, which the workflow of every push leaves to it', () => {
    expect(release.on).toEqual({ push: { tags: ['v*'] } });
    expect(ci.on.push).toEqual({ branches: ['**'] });
    expect(ci.on.workflow_call!.inputs).toHaveProperty('servers');
  });

  it('publishes after the tests, and these begin after the versions were compared', () => {
    const order = Object.entries(release.jobs).map(([name, { needs }]) => [name, needs]);
    expect(order).toEqual([
      ['version', undefined],
      ['tests', 'version'],
      ['publish', 'tests'],
      ['github-release', 'publish'],
    ]);
    expect(release.jobs.tests!.uses).toBe('./.github/workflows/ci.yml');
    expect(commands(release.jobs.version!)).toEqual(['node scripts/release.mjs "$GITHUB_REF_NAME"']);
  });

  it('tests on the servers that docs/servers.md calls tested, and on every Node that package.json takes', () => {
    const rows = readFileSync('docs/servers.md', 'utf8').match(/^\| .* \| tested( once)? \| .*$/gm)!;
    const tested = rows.flatMap((row) => row.match(/\d+\.\d+\.\d+/g)!);
    const servers = JSON.parse(release.jobs.tests!.with!.servers) as string[];
    expect(servers.map((server) => server.split(' ')[1]).sort()).toEqual(tested.sort());
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
    const majors = [...engines.node.matchAll(/(\d+)\.\d+\.\d+/g)].map(([, major]) => Number(major));
    expect(ci.jobs.ci!.strategy!.matrix.node).toEqual(majors);
  });

  it('publishes with provenance and without a token, and only that job may sign', () => {
    const publish = commands(release.jobs.publish!);
    expect(publish).toEqual(['npm ci', 'npm publish --provenance --access public --tag "$DIST_TAG"']);
    expect(readFileSync('.github/workflows/release.yml', 'utf8')).not.toMatch(/secrets|NODE_AUTH_TOKEN|NPM_TOKEN/);
    expect(release.permissions).toEqual({ contents: 'read' });
    const more = Object.entries(release.jobs).filter(([, { permissions }]) => permissions);
    expect(more.map(([name, { permissions }]) => [name, permissions])).toEqual([
      ['publish', { contents: 'read', 'id-token': 'write' }],
      ['github-release', { contents: 'write' }],
    ]);
  });
});

function workflow(name: string): Workflow {
  return parse(readFileSync(`.github/workflows/${name}.yml`, 'utf8'));
}

function commands({ steps = [] }: Job): string[] {
  return steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
}

function errorOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it did not throw');
}
