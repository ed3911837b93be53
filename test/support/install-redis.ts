import { execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline/promises';

// Nothing is installed on a machine unless its owner agrees: by an answer at the terminal, or by SQ_INSTALL_REDIS. Where nobody can be
// asked (CI, a container), a Redis is installed, and said so.

type Say = (line: string) => void;

const WAYS: { manager: string; commands: string[][]; asRoot: boolean }[] = [
  {
    manager: 'apt-get',
    commands: [
      ['apt-get', 'update'],
      ['apt-get', 'install', '-y', 'redis-server'],
    ],
    asRoot: true,
  },
  { manager: 'dnf', commands: [['dnf', 'install', '-y', 'redis']], asRoot: true },
  { manager: 'apk', commands: [['apk', 'add', 'redis']], asRoot: true },
  { manager: 'brew', commands: [['brew', 'install', 'redis']], asRoot: false },
];

const BY_HAND = [
  'Do one of these and try again:',
  '  sudo apt-get install redis-server      (Debian, Ubuntu)',
  '  brew install redis                     (macOS)',
  '  docker compose up -d  and  export REDIS_URL=redis://localhost:6379',
];
const BY_CONSENT = '  export SQ_INSTALL_REDIS=yes            (lets this command install one)';

/** Nobody sits at a terminal for longer without answering. */
const PATIENCE_MS = 120_000;

/**
 * Installs a Redis by the system's package manager, where that needs no password and `SQ_INSTALL_REDIS` or whoever sits at the terminal
 * agrees. Throws an error that says what to do where none is installed; `needed` begins it.
 */
export async function installRedis(say: Say, needed: string): Promise<void> {
  const agreed = agreement();
  if (agreed === 'never')
    throw new Error(
      [`${needed} Nothing was installed, as SQ_INSTALL_REDIS is never.`, ...BY_HAND, BY_CONSENT].join('\n'),
    );
  const commands = commandsHere();
  if (!commands) throw new Error([`${needed} None can be installed without a password either.`, ...BY_HAND].join('\n'));
  const shown = commands.map((command) => command.join(' ')).join(' && ');
  if (agreed === undefined) await ask(say, needed, shown);
  else say(`${needed} Installing one, as SQ_INSTALL_REDIS is yes: ${shown}`);
  const failed = commands.find(([command, ...args]) => !succeeds(command!, ...args));
  if (failed) throw new Error([`${needed} \`${failed.join(' ')}\` failed.`, ...BY_HAND].join('\n'));
}

/**
 * Whether somebody can be asked. Tests run in processes without a terminal; so whoever starts these from one says `never` for them, or
 * they would install without asking.
 */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stdout.isTTY && !process.env.CI);
}

function agreement(): 'yes' | 'never' | undefined {
  const said = process.env.SQ_INSTALL_REDIS;
  if (said === undefined || said === '') return undefined;
  if (said === 'yes' || said === 'never') return said;
  throw new Error(`SQ_INSTALL_REDIS: got ${JSON.stringify(said)}, expected yes or never; leave it out to be asked.`);
}

async function ask(say: Say, needed: string, shown: string): Promise<void> {
  if (!canAsk()) {
    say(`${needed} Nobody can be asked here, so one is installed: ${shown} (SQ_INSTALL_REDIS=never prevents that)`);
    return;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  // Also where the terminal is closed.
  const nobody = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  const timer = setTimeout(() => terminal.close(), PATIENCE_MS);
  const question = terminal.question(`${needed}\nInstall one now, by \`${shown}\`? [y/N] `).catch(() => undefined);
  const answer = await Promise.race([question, nobody]);
  clearTimeout(timer);
  terminal.close();
  if (/^y(es)?$/i.test(answer?.trim() ?? '')) return;
  throw new Error([`${needed} Nothing was installed, as nobody agreed to that.`, ...BY_HAND, BY_CONSENT].join('\n'));
}

/** What installs a Redis here without asking for a password; `undefined` where nothing does. */
function commandsHere(): string[][] | undefined {
  const way = WAYS.find(({ manager }) => succeeds(manager, '--version'));
  if (!way) return undefined;
  if (!way.asRoot || process.getuid?.() === 0) return way.commands;
  if (!succeeds('sudo', '-n', 'true')) return undefined;
  return way.commands.map((command) => ['sudo', '-n', ...command]);
}

export function succeeds(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, {
      stdio: 'ignore',
      timeout: 300_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    return true;
  } catch {
    return false;
  }
}
