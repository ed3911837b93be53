import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** All changes that plant a bug. */
export function changesOf({ file, from, to, widenedBy = [] }) {
  return [{ file, from, to }, ...widenedBy];
}

/** Whether a text of a bug is not in its file any more. */
export function isStale(bug) {
  return changesOf(bug).some(({ file, from }) => !readFileSync(join(root, file), 'utf8').includes(from));
}

/** All that git knows, as it is in the work tree, in a folder of its own. */
export class RepositoryCopy {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'scheduled-queue-planted-'));
    // Deleted files are listed as well until git is told.
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
    const deleted = execFileSync('git', ['ls-files', '-z', '--deleted'], { cwd: root }).toString().split('\0');
    for (const file of listed.toString().split('\0').filter(Boolean))
      if (!deleted.includes(file)) cpSync(join(root, file), join(this.folder, file), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Does so with a bug planted, and takes it out again. */
  withBug(bug, work) {
    return changesOf(bug).reduceRight((inner, change) => () => this.withChange(change, inner), work)();
  }

  withChange({ file, from, to }, work) {
    const path = join(this.folder, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replaceAll(from, () => to),
    );
    try {
      return work();
    } finally {
      writeFileSync(path, text);
    }
  }

  /** Why it cannot be run: it does not build, or Redis does not compile its scripts. Undefined where it can be. */
  build() {
    for (const script of ['scripts/embed-lua.mjs', 'test/chaos/planted-bugs/load-scripts.mjs']) {
      const { status, output } = this.node([script]);
      if (status !== 0)
        return `it does not build, or its scripts do not load: ${output.trim().split('\n').slice(0, 5).join('\n')}`;
    }
    return undefined;
  }

  /** Runs the chaos suite in it. */
  run(seed, seconds) {
    const report = join(this.folder, 'report.json');
    const directory = join(this.folder, 'runs');
    rmSync(report, { force: true });
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    const args = ['test/chaos/run.mjs', '--seed', seed, '--seconds', seconds, '--report', report].map(String);
    const { status, output } = this.node(args, { TMPDIR: directory });
    return { status, output, report: readReport(report), logs: readLogs(directory) };
  }

  node(args, env = {}) {
    const options = { cwd: this.folder, encoding: 'utf8', maxBuffer: 1 << 28, env: { ...process.env, ...env } };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
    return { status, output: stdout + stderr };
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The histories and the logs of the runs whose files were kept. */
function readLogs(directory) {
  return readdirSync(directory, { recursive: true })
    .filter((file) => /\.(log|jsonl)$/.test(file))
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .join('\n');
}
