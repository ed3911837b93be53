import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

/** The queues that others use lie in bench/node_modules, so that the package itself depends on none of them. */
const folder = resolve('bench');
const requirePeer = createRequire(resolve(folder, 'package.json'));

/** Installs them where one is missing, or is there in another version. Throws where that fails. */
export function installPeers(): void {
  if (areInstalled()) return;
  process.stderr.write('Installing BullMQ, bee-queue and groupmq into bench/node_modules (this happens once) …\n');
  try {
    // Not `npm ci`: it wants the lock file to name optional parts for every platform, and a registry may lack some of them.
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['install', '--no-save', ...quiet], { cwd: folder, stdio: ['ignore', 2, 2] });
  } catch (cause) {
    throw new Error(
      'npm install in bench/ failed, so there is nobody to compare with. `npm run bench -- --contestants ours,floor` needs neither.',
      { cause },
    );
  }
}

function areInstalled(): boolean {
  const { devDependencies } = JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  // Not by versionOf: where one is missing here, Node would find another copy further up.
  const isThere = ([name, version]: [string, string]) => {
    const file = resolve(folder, 'node_modules', name, 'package.json');
    return existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version === version;
  };
  return Object.entries(devDependencies).every(isThere);
}

export function loadPeer<Peer>(name: string): Peer {
  return requirePeer(name) as Peer;
}

/** What a peer depends on, wherever npm has put it. */
export function loadClientOf(peer: string, client: string): void {
  createRequire(requirePeer.resolve(peer))(client);
}

/** Of the peer that is installed, or of a package of this repository. */
export function versionOf(name: string): string {
  return (requirePeer(`${name}/package.json`) as { version: string }).version;
}

/** How many packages it needs at run time besides itself, by its own word; peers not counted. */
export function dependenciesOf(name: string): number {
  const { dependencies } = requirePeer(`${name}/package.json`) as { dependencies?: object };
  return Object.keys(dependencies ?? {}).length;
}

/** The same of this library. */
export function ownDependencies(): number {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies?: object };
  return Object.keys(dependencies ?? {}).length;
}
