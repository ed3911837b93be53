import { invalidOptions } from '../core/errors.js';
import { anything, readOptions } from '../core/read/shape.js';

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
  const shape = Object.fromEntries(ASYNC_OPTIONS.map((name) => [name, anything]));
  const given = readOptions<Record<string, unknown>>(options ?? {}, shape, where, invalidOptions);
  if (given.useFactory ?? given.useClass ?? given.useExisting) return;
  throw invalidOptions(`${where}: got none of its sources, expected useFactory, useClass or useExisting.`);
}
