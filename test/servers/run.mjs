// npm run test:servers -- FOLDER… [-- arguments of Jest]: `npm test` and `npm run test:faults` once for each FOLDER, which goes in front of PATH:
// the one with redis-server or valkey-server in it; with another Node as well, both with a colon between them. Arguments of Jest go to
// `npm test` alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const given = process.argv.slice(2);
const end = given.includes('--') ? given.indexOf('--') : given.length;
const [folders, args] = [given.slice(0, end), given.slice(end + 1)];
if (folders.length === 0) {
  console.error('got no folder, expected one for each server: npm run test:servers -- /opt/valkey/bin');
  process.exit(2);
}

const results = mkdtempSync(join(tmpdir(), 'scheduled-queue-servers-'));
const lines = [];
for (const [i, folder] of folders.entries()) {
  const file = join(results, `${i}.json`);
  writeFileSync(file, '');
  const { REDIS_URL: _, ...rest } = process.env;
  const env = { ...rest, PATH: `${folder}:${process.env.PATH}`, CI_RESULT_FILE: file };
  const versions = await output('redis-server --version || valkey-server --version; node --version', env);
  let areAllWell = true;
  for (const command of args.length > 0 ? [['test', '--', ...args]] : [['test'], ['run', 'test:faults']]) {
    const [code] = await once(spawn('npm', command, { stdio: 'inherit', env }), 'exit');
    areAllWell &&= code === 0;
  }
  const text = readFileSync(file, 'utf8');
  const { passed, failed } = text ? JSON.parse(text) : { passed: 0, failed: 0 };
  if (!areAllWell || passed === 0 || failed > 0) process.exitCode = 1;
  lines.push(`${versions.replaceAll('\n', ', ')}: ${passed} passed, ${failed} failed`);
}
rmSync(results, { recursive: true });
console.log(lines.join('\n'));

async function output(command, env) {
  const child = spawn('sh', ['-c', `(${command}) 2>/dev/null`], { env });
  let text = '';
  for await (const part of child.stdout) text += part;
  return text.trim().replace(/(Redis|Valkey) server v=(\S+).*/, '$1 $2');
}
