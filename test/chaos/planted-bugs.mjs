// Plants one bug at a time in a copy of this repository and shows that the suite finds it: npm run test:chaos:planted
// [-- name…]. Fails where one is not found.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const SECONDS = 12;
/** Tried one after the other: what a bug needs to show may not happen under each. */
const SEEDS = [1, 2, 3];

/** What is replaced where; every occurrence. */
const BUGS = {
  'fence check removed': {
    file: 'lib/store/lua/parts/record.lua',
    from: "return record and string.sub(record, 1, #fence + 1) == fence .. ' '",
    to: 'return record',
  },
  'recovery removed': {
    file: 'lib/store/lua/parts/recover.lua',
    from: 'if now >= recoverFrom and',
    to: 'if false and',
  },
  'replay record ignored': {
    file: 'lib/store/lua/parts/call.lua',
    from: "if number == tonumber(last) then return 'replayed', answer end",
    to: '',
  },
  'cancel without state check': {
    file: 'lib/store/lua/cancel.lua',
    from: "if envelope and redis.call('ZSCORE', base .. 'lane:' .. laneOf(envelope), id) then",
    to: 'if envelope then',
  },
  'reschedule without state check': {
    file: 'lib/store/lua/reschedule.lua',
    from: "if envelope and redis.call('ZSCORE', base .. 'lane:' .. laneOf(envelope), id) then",
    to: 'if envelope then',
  },
  'claim a second early': {
    file: 'lib/store/lua/parts/pick.lua',
    from: "'-inf', digits(now),",
    to: "'-inf', digits(now + 1000),",
  },
  'envelope of a waiting job deleted': {
    file: 'lib/store/lua/parts/settle.lua',
    from: "  count('retried')\n",
    to: "  count('retried')\n  redis.call('HDEL', jobsKey, s.id)\n",
  },
  'settled without leaving active': {
    file: 'lib/store/lua/parts/settle.lua',
    from: "redis.call('ZREM', activeKey, unpack(leaving))",
    to: '',
  },
  'leases not renewed': {
    file: 'lib/store/lua/parts/settle.lua',
    from: "if renewed[1] then redis.call('ZADD', activeKey, 'XX', unpack(renewed)) end",
    to: '',
  },
  'recovered job not counted as an attempt': {
    file: 'lib/store/lua/parts/recover.lua',
    from: 'record.crashes = record.crashes + 1',
    to: 'record.crashes, record.attempt = record.crashes + 1, record.attempt - 1',
  },
  'ids of ended jobs forgotten': {
    file: 'lib/store/lua/parts/settle.lua',
    from: 'local function rememberId(s)',
    to: 'local function rememberId(s)\n  if true then return end',
  },
  'reschedule moves nothing': {
    file: 'lib/store/lua/reschedule.lua',
    from: 'addToLane(lane, id, due)',
    to: '',
  },
  'worker waits for ever after an outage': {
    file: 'lib/store/redis/worker-seat.ts',
    from: '!mayPass(error)) throw error;',
    to: '!mayPass(error)) throw error;\n        await new Promise(() => {});',
  },
  'end of a run overrules its cancellation': {
    file: 'lib/store/lua/parts/record.lua',
    from: "return record and string.sub(record, 1, #fence + 1) == fence .. ' '",
    to: "return record and (string.sub(record, 1, #fence + 1) == fence .. ' ' or string.sub(record, 1, #fence + 2) == fence .. 'c ')",
  },
  'cancelled job runs again where its worker died': {
    file: 'lib/store/lua/parts/recover.lua',
    from: 'if record.toBeCancelled then',
    to: 'if false then',
  },
  'late jobs begin all the same': {
    file: 'lib/store/lua/parts/claim.lua',
    from: 'if rule and now - job.due > tonumber(maxLatenessMs) then',
    to: 'if false then',
  },
  'job dead as late too early': {
    file: 'lib/store/lua/parts/claim.lua',
    from: 'if rule and now - job.due > tonumber(maxLatenessMs) then',
    to: 'if rule and now - job.due > tonumber(maxLatenessMs) / 10 then',
  },
  'counter counts twice': {
    file: 'lib/store/lua/cancel.lua',
    from: "redis.call('HINCRBY', KEYS[5], 'cancelled', 1)",
    to: "redis.call('HINCRBY', KEYS[5], 'cancelled', 2)",
  },
};

const names = process.argv.slice(2);
let missed = 0;
for (const [name, bug] of Object.entries(BUGS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const copy = makeCopy();
  plant(copy, bug);
  const found = run(copy);
  if (!found) missed++;
  process.stdout.write(`\n## ${name}\n${found ?? 'NOT FOUND'}\n`);
  rmSync(copy, { recursive: true });
}
process.exitCode = missed > 0 ? 1 : 0;

/** Of what git knows, as it is in the work tree. */
function makeCopy() {
  const copy = mkdtempSync(join(tmpdir(), 'scheduled-queue-planted-'));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of listed.toString().split('\0').filter(Boolean)) {
    if (/^(lib|test|scripts)\/|^(package|tsconfig[.\w]*)\.json$/.test(file))
      cpSync(join(root, file), join(copy, file), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function plant(copy, { file, from, to }) {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} has changed: it does not hold ${JSON.stringify(from)} any more.`);
  writeFileSync(path, text.replaceAll(from, to));
  execFileSync(process.execPath, ['scripts/embed-lua.mjs'], { cwd: copy });
}

/** The violations of the first seed that has any. */
function run(copy) {
  for (const seed of SEEDS) {
    const args = ['test/chaos/run.mjs', '--seed', String(seed), '--seconds', String(SECONDS)];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
    const [, directory] = stdout.match(/history and logs: (.*)/) ?? [];
    if (directory) rmSync(dirname(join(directory, 'x')), { recursive: true, force: true });
    const at = stdout.search(/\d+ VIOLATIONS/);
    if (at >= 0) return `seed ${seed}: ${stdout.slice(at).trim()}`;
    if (status !== 0) return `seed ${seed}: the run itself failed: ${stderr.trim().split('\n').slice(0, 5).join('\n')}`;
  }
  return undefined;
}
