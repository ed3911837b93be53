import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type PayloadCodec, payloadCodec } from '../core/payload/codec.js';
import { describe } from '../core/read/describe.js';
import { UsageError } from './usage-error.js';

/**
 * The codecs that a module exports, by themselves or in arrays: of a file, or of a package as it would be found in the folder of the call.
 * Throws `UsageError`.
 */
export async function readCodecs(module: string, folder = process.cwd()): Promise<PayloadCodec[]> {
  const exported = await load(module, folder).catch((error: Error) => {
    throw new UsageError(
      `--codecs: the module ${describe(module)} cannot be loaded: ${error.message.split('\n', 1)[0]}.`,
    );
  });
  const values = Object.values(exported).flatMap((value) => (Array.isArray(value) ? value : [value]));
  const codecs = values.flatMap((value) => {
    const read = payloadCodec(value);
    return 'value' in read ? [read.value] : [];
  });
  if (codecs.length === 0)
    throw new UsageError(
      `--codecs: the module ${describe(module)} exports no codec, expected at least one { id, encode, decode }.`,
    );
  return codecs;
}

async function load(module: string, folder: string): Promise<object> {
  const isFile = /^(\.{0,2}[\\/]|[a-z]:)/i.test(module);
  const file = isFile ? resolve(folder, module) : createRequire(join(folder, 'any.js')).resolve(module);
  return import(pathToFileURL(file).href);
}
