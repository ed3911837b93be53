// How `npm start` and `npm test` come by a Redis on a machine that has none, seen from processes whose PATH leads to nothing but a package
// manager that pretends.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort } from '../support/redis-server.js';

const HELPER = new URL('../../dist-test/redis-server.js', import.meta.url).href;
const COMMAND = /(sudo -n )?apt-get update && (sudo -n )?apt-get install -y redis-server/;

/** Listens where it is told to, and answers nothing. */
const SERVER = `
const at = process.argv.indexOf('--port');
if (at > 0) require('node:net').createServer().listen(Number(process.argv[at + 1]), '127.0.0.1');
`;
const MANAGER = `
const { appendFileSync, writeFileSync } = require('node:fs');
const command = process.argv.slice(2);
if (command[0] !== '--version') appendFileSync(__dirname + '/log', command.join(' ') + '\\n');
if (command[0] === 'install') writeFileSync(__dirname + '/redis-server', require('node:fs').readFileSync(__dirname + '/server'), { mode: 0o755 });
`;
const SUDO = `
const [, command, ...args] = process.argv.slice(2);
if (command !== 'true') require('node:child_process').execFileSync(command, args);
`;

let bin: string;

beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'scheduled-queue-bin-'));
  write('apt-get', MANAGER);
  write('sudo', SUDO);
  write('server', SERVER);
});

afterEach(() => rmSync(bin, { recursive: true, force: true }));

function write(name: string, code: string): void {
  writeFileSync(join(bin, name), `#!${process.execPath}\n${code}`, { mode: 0o755 });
}

/** What was run of the package manager. */
const installed = () => (existsSync(join(bin, 'log')) ? readFileSync(join(bin, 'log'), 'utf8').trim().split('\n') : []);

interface Machine {
  /** Whether somebody sits there, and what they type. */
  terminal?: boolean;
  input?: string;
  env?: Record<string, string>;
  call?: string;
}

function start({ terminal = false, input, env = {}, call = 'startRedis(console.log)' }: Machine): Promise<string> {
  const code = `
    process.stdin.isTTY = process.stdout.isTTY = ${terminal};
    const { startRedis, startOwnServer } = await import(${JSON.stringify(HELPER)});
    try {
      const server = await ${call};
      console.log('using ' + server.origin);
      await server.stop();
    } catch (error) {
      console.log('refused: ' + error.message);
    }`;
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !['CI', 'DOCKER_HOST', 'NODE_OPTIONS', 'REDIS_URL', 'SQ_INSTALL_REDIS'].includes(name),
    ),
  );
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { ...clean, PATH: bin, ...env },
    // A question that nobody answers keeps it waiting.
    timeout: 20_000,
  });
  if (input !== undefined) child.stdin.end(input);
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.once('close', () => resolve(output)));
}

describe('where somebody sits at the terminal', () => {
  it('a Redis is installed after a yes, by the commands that the question names', async () => {
    const output = await start({ terminal: true, input: 'y\n' });
    expect(output).toMatch(/no REDIS_URL, no redis-server or valkey-server on PATH, no container engine/);
    expect(output).toMatch(new RegExp(`Install one now, by \`${COMMAND.source}\`\\? \\[y/N\\]`));
    expect(output).toContain('using redis-server on port');
    expect(installed()).toEqual(['update', 'install -y redis-server']);
  });

  it.each([
    ['a no', 'n\n'],
    ['an empty answer', '\n'],
    ['a closed terminal', ''],
  ])('nothing is installed after %s, and the error says what to do', async (_, input) => {
    const output = await start({ terminal: true, input });
    expect(output).toContain('Nothing was installed, as nobody agreed to that.');
    expect(output).toContain('sudo apt-get install redis-server');
    expect(output).toContain('export SQ_INSTALL_REDIS=yes');
    expect(installed()).toEqual([]);
  });

  it('nobody is asked under CI', async () => {
    expect(await start({ terminal: true, env: { CI: 'true' } })).not.toContain('[y/N]');
    expect(installed()).toHaveLength(2);
  });
});

it('without a terminal a Redis is installed, and the commands and the way to prevent them are told first', async () => {
  const output = await start({ input: '' });
  expect(output).toMatch(
    new RegExp(
      `Nobody can be asked here, so one is installed: ${COMMAND.source} \\(SQ_INSTALL_REDIS=never prevents that\\)`,
    ),
  );
  expect(output).toContain('using redis-server on port');
});

describe('SQ_INSTALL_REDIS', () => {
  it.each(['startRedis(console.log)', 'startOwnServer()'])(
    'never refuses, with what to do instead: %s',
    async (call) => {
      for (const terminal of [true, false]) {
        const output = await start({ terminal, input: 'y\n', env: { SQ_INSTALL_REDIS: 'never' }, call });
        expect(output).toContain('Nothing was installed, as SQ_INSTALL_REDIS is never.');
        expect(output).toContain('docker compose up -d  and  export REDIS_URL=redis://localhost:6379');
      }
      expect(installed()).toEqual([]);
    },
  );

  it('yes agrees without a question', async () => {
    const output = await start({ terminal: true, input: '', env: { SQ_INSTALL_REDIS: 'yes' } });
    expect(output).toMatch(new RegExp(`Installing one, as SQ_INSTALL_REDIS is yes: ${COMMAND.source}`));
    expect(output).not.toContain('[y/N]');
    expect(output).toContain('using redis-server on port');
  });

  it('refuses other words, lest a misspelt never is none', async () => {
    const output = await start({ env: { SQ_INSTALL_REDIS: 'nevr' } });
    expect(output).toContain('SQ_INSTALL_REDIS: got "nevr", expected yes or never');
    expect(installed()).toEqual([]);
  });
});

it('a REDIS_URL or a server on PATH is taken, and nothing is asked or installed', async () => {
  const byUrl = await start({ terminal: true, env: { REDIS_URL: 'redis://localhost:1' } });
  expect(byUrl).toBe('using REDIS_URL\n');
  write('redis-server', SERVER);
  expect(await start({ terminal: true })).toMatch(/^using redis-server on port \d+\n$/);
  expect(installed()).toEqual([]);
});

it('where installing needs a password nobody is asked, and the error says what to type', async () => {
  rmSync(join(bin, 'apt-get'));
  const output = await start({ terminal: true, input: 'y\n' });
  expect(output).toContain('None can be installed without a password either.');
  expect(output).not.toContain('[y/N]');
});

it('servers get ports that no outgoing connection can take from them, and each port once', async () => {
  const ports = await Promise.all(Array.from({ length: 300 }, freePort));
  expect(new Set(ports).size).toBe(300);
  // Linux gives connections the ports from here on, other systems higher ones. The bus of a cluster is 10 000 above the port.
  expect(Math.max(...ports) + 10_000).toBeLessThan(32_768);
});
