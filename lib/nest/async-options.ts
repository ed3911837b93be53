import { InvalidOptionsError } from '../core/errors.js';
import { type Check, readOptions } from '../core/read/shape.js';

const ASYNC_OPTIONS = [
  'imports',
  'inject',
  'useFactory',
  'useClass',
  'useExisting',
  'provideInjectionTokensFrom',
  'isGlobal',
  'name',
];

/** Without this check Nest would answer a misspelt `useFactory` with an error about an undefined class. */
export function requireOptionsSource(options: object): void {
  const where = 'RedisScheduledQueueModule.forRootAsync';
  const anything: Check<unknown> = (value) => ({ value });
  const shape = Object.fromEntries(ASYNC_OPTIONS.map((name) => [name, anything]));
  const given = readOptions<Record<string, unknown>>(
    options ?? {},
    shape,
    where,
    (message) => new InvalidOptionsError(message),
  );
  if (given.useFactory ?? given.useClass ?? given.useExisting) return;
  throw new InvalidOptionsError(`${where}: got none of its sources, expected useFactory, useClass or useExisting.`);
}
