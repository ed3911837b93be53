import type { ModulesContainer } from '@nestjs/core';
import { InvalidOptionsError } from '../core/errors.js';
import { nearest } from '../core/read/describe.js';
import type { Token } from './provide.js';
import { DEFAULT_INSTANCE } from './tokens.js';

/**
 * Each instance of the module provides its name under this token. A fixed string: where two copies of this package are
 * installed, each must find the other's instances.
 */
export const INSTANCE_NAME = 'nestjs-redis-scheduled-queue:instance';

/** The names of the instances in this application. Throws `InvalidOptionsError` where two have the same one. */
export function instanceNames(modules: ModulesContainer): ReadonlySet<string> {
  const names = new Map<string, number>();
  for (const { providers } of modules.values()) {
    const name = providers.get(INSTANCE_NAME)?.instance as string | undefined;
    if (name !== undefined) names.set(name, (names.get(name) ?? 0) + 1);
  }
  for (const [name, count] of names) if (count > 1) throw sameName(name, count);
  return new Set(names.keys());
}

/** What an instance of the application provides to itself under this token. There must be an instance of that name. */
export function partOfInstance<Part>(modules: ModulesContainer, name: string, token: Token<Part>): Part {
  for (const { providers } of modules.values())
    if (providers.get(INSTANCE_NAME)?.instance === name) return providers.get(token)!.instance as Part;
  throw new InvalidOptionsError(`No RedisScheduledQueueModule of this application is named '${name}'.`);
}

/** Throws `InvalidOptionsError` unless an instance has that name. `remedy` says why one is to be named. */
export function requireInstance(
  names: ReadonlySet<string>,
  instance: string,
  where: string,
  remedy: string,
  jobName?: string,
): void {
  if (names.has(instance)) return;
  if (names.size === 0)
    throw new InvalidOptionsError(
      `${where}: this application has no RedisScheduledQueueModule, expected one: import RedisScheduledQueueModule.forRoot({ … }) or forRootAsync({ … }) in the root module.`,
      { jobName },
    );
  const known = [...names];
  const list = known.map((name) => (name === DEFAULT_INSTANCE ? 'the one without a name' : `'${name}'`)).join(', ');
  if (instance === DEFAULT_INSTANCE) {
    throw new InvalidOptionsError(
      `${where} names no instance, but each RedisScheduledQueueModule of this application has a name: ${list}. ${remedy}: { instance: '${known[0]}' }.`,
      { jobName },
    );
  }
  const near = nearest(instance, known);
  const hint = near === undefined ? '' : ` Did you mean '${near}'?`;
  throw new InvalidOptionsError(
    `${where}: instance: got '${instance}', which no RedisScheduledQueueModule of this application is named. There is: ${list}.${hint}`,
    { jobName },
  );
}

/** The error of a module whose bare class stands in imports. `expected`: what to import instead. */
export function bareClass(module: string, expected: string): InvalidOptionsError {
  return new InvalidOptionsError(`${module}: got the bare class in imports, expected ${expected}`);
}

function sameName(name: string, count: number): InvalidOptionsError {
  const [are, remedy] =
    name === DEFAULT_INSTANCE
      ? [
          'without a name',
          `Call forRoot or forRootAsync once, or give each further instance a name, such as forRoot({ name: 'reports', … }).`,
        ]
      : [`named '${name}'`, 'Give each another name.'];
  return new InvalidOptionsError(
    `RedisScheduledQueueModule: got ${count} instances ${are}, expected one: each of them would run the same handlers. ${remedy}`,
  );
}
